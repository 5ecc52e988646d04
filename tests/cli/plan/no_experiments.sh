prony plan -V a='[]'
prony plan --no-defaults --format json
