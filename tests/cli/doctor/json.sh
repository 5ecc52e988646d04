prony doctor --format json | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["schema"], d["env"]["schema"], d["harness_s"] > 0, len(d["checks"]) > 8)
print(d["sys_info"]["hw.cpuinfo"][0]["processor"])'
prony sysinfo | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(*d)
print("MemTotal" in d["hw.meminfo"], "Architecture" in d["hw.lscpu"])'
