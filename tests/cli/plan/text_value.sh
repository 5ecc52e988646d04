prony plan --no-defaults -P a=text -P b='[1,' --format json | tail -2
