prony plan --no-defaults -P a=1 -V a='[2]' --format json | grep -o '"a": [0-9]'
