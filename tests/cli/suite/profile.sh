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
# Names become names of files.
for name in 'a\nb' 'a\u001b[31m' '../up' '.hidden' 'a\u0085'; do
    printf '{"%s": {"experiment": "command", "command": "true"}}' "$name" > bad.json
    prony plan bad.json || echo "status $?"
done
printf '{"a": {"experiment": "command", "command": "true", "arguments": {}}}' > "$(printf 'x\ny').json"
prony plan x*y.json || echo "status $?"
prony run -q -P exp.command=true -P suite.name='"a\nb"' -o out > /dev/null
ls out | grep J0 | cut -d. -f1
