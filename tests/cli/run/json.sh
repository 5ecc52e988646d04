prony run -q -P exp.command='"echo ${n}"' -V n='[1, 2]' -o out --format json |
    python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["schema"], d["dir"])
for e in d["experiments"]:
    print(e["id"][:4], e["status"], e["params"]["exp.command"], e["results"]["exit_status"])'
