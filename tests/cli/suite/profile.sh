# A profile: what is planned, one copy a device, and one job that is named.
# tags: valgrind
export PRONY_NVML=
cat > mine.json <<'END'
{"*": {"partition_scheme": {"type": "per-gpu"}},
 "a": {"experiment": "command", "command": "true", "arguments": {"--x": 1}},
 "b": {"experiment": "milarun.models.vae:main", "arguments": {}},
 "n": {"experiment": "milarun.models.atari:main", "arguments": {},
       "partition_scheme": {"type": "normal"}, "weigth": 3},
 "p": {"experiment": "milarun.models.scaling:main", "arguments": {},
       "partition_scheme": {"type": "gpu-progression"}}}
END
prony plan mine.json --devices 2 --format json > plan.json
python3 - <<'END'
import json
for e in json.load(open("plan.json"))["experiments"]:
    p = e["params"]
    print(p["exp.name"], p.get("suite.devices"), p.get("suite.slot"),
          p.get("suite.slots"), p.get("suite.group"))
END
prony plan mine.json --name a,zz || echo "status $?"
prony plan mine.json --devices 0 || echo "status $?"
