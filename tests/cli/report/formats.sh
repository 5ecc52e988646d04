# tags: valgrind
prony run -q -P exp.command='["sh", "-c", "echo __results.speed__= $0", "${n}"]' -V n='[1.5, 2]' -V t='["a|b", "c"]' -o out > /dev/null
prony report out
prony report out --format md | cut -d'|' -f1-7
prony report out --format csv | tr -d '\r' | cut -d, -f2-4
prony report out --format json | python3 -c 'import json, sys; print([(r["n"], r["t"], r["status"], r["speed"]) for r in json.load(sys.stdin)["experiments"]])'
