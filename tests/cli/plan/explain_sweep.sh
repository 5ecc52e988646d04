# What a variable and an extension replaced is told, too.
prony plan --no-defaults -P t=5 -V t='[1]' -E '{"parameters": {"t": 9}}' --explain t 2> /dev/null
