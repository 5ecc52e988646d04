prony run -P a=1 -o out
