prony -q --log-level error plan --no-defaults -P a=1 -P b='[' --format json | tail -2
prony plan --no-defaults -P a=1 --format json --no-format | tail -1
