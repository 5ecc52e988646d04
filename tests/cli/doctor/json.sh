prony doctor --format json | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["schema"], d["env"]["schema"], d["harness_s"] > 0, len(d["checks"]) > 8)'
