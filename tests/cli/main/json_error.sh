# Who asked for JSON gets a document also on failure.
prony run -P a=1 --format json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["schema"], d["error"], d["exit_status"])'
prony plan ./nowhere.yaml --format JSON | python3 -c 'import json, sys; print(json.load(sys.stdin)["where"])'
prony run --dry-run --format json -P exp.command=true | python3 -c 'import json, sys; print(json.load(sys.stdin)["count"])'
