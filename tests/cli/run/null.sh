# tags: valgrind
prony run -q -P exp.workload=null -P null.steps=7 -o out --format json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["experiments"][0]["results"]["steps"])'
