# tags: valgrind
# What a new user sees first fits one screen, and everything in it is there.
prony >all
prony help >help
prony --help >option
cmp all help
cmp all option
awk 'length > 80 {print "too wide: " $0} END {if (NR > 24) print "too long: " NR}' all
prony help commands >commands
for verb in $(prony __verbs); do
    grep -q "^  [a-z]*  .* $verb\( \|\$\)" all || echo "$verb is not in it"
    grep -q "^  $verb  *[a-z]" commands || echo "$verb is not in the list"
done
sed -n 's/^  [a-z ]*  *prony \([a-z]*\).*/\1/p' all | sort -u >pasted
prony __verbs | sort >verbs
comm -23 pasted verbs
test "$(wc -l <pasted)" -ge 3
cat all
