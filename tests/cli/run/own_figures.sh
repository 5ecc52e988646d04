# A program's metrics never replace our figures; what is not finite is left out.
prony run -q -o out --format json -P exp.command='["sh", "-c", "echo __results.elapsed_s__= 9; echo __results.x__= NaN; echo __results.status__= 7; echo __results.y__= oops"]' |
    python3 -c 'import json, sys
e = json.load(sys.stdin, parse_constant=lambda c: sys.exit("not JSON: " + c))["experiments"][0]
print(e["results"]["elapsed_s"] != 9, e["results"]["program.elapsed_s"], "x" in e["results"], e["results"]["status"])
print(e["warnings"])'
prony report out --format json | python3 -c 'import json, sys; r = json.load(sys.stdin)["experiments"][0]; print(r["status"], r["results.status"])'
