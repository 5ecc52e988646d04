# Any experiments can be started together, also without a profile.
prony run -q -P exp.command='["sh", "-c", "touch $D; until [ -e 1 ] && [ -e 2 ]; do sleep 0.02; done"]' \
    -P suite.group=both -V suite.device='[1, 2]' -P runtime.env.D='"${suite.device}"' \
    -P exp.timeout=30 -o out >/dev/null
python3 - <<'END'
import glob, json
times = [json.load(open(f)) for f in sorted(glob.glob("out/experiments/*/result.json"))]
print([t["status"] for t in times])
print(max(t["started"] for t in times) < min(t["ended"] for t in times))
END
