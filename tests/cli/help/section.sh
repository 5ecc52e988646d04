# The parameters of a section, in short.
prony help exp >exp
awk 'length > 80' exp
grep -c '^  exp\.' exp >count
prony help --format json exp | grep -c '"name"' | cmp - count
head -3 exp
prony help runtime
