# An experiment that takes a while is watched: a file, and a summary.
# Not over before the first look was taken, however busy the machine is.
cat >wait.sh <<'END'
until [ -e "$TMP"/out/experiments/*/monitor.ndjson ]; do sleep 0.02; done
exec sleep 0.2
END
prony run -q -P exp.command="[\"sh\",\"$TMP/wait.sh\"]" -o out >/dev/null
cd out/experiments/*
python3 - <<'END'
import json
lines = [json.loads(l) for l in open("monitor.ndjson")]
print(lines[0]["schema"], lines[0]["interval_s"], lines[0]["columns"]["cpu"])
looks = [l for l in lines if "t" in l]
print(len(looks) >= 1, "cpu" in looks[0], looks[0]["t"] >= 0.1)
m = json.load(open("result.json"))["monitor"]
print(m["interval_s"], m["samples"] == len(looks), 0 <= m["cpu"]["mean"] <= 1)
print(1 <= m["job.processes"]["max"] <= 2, "total" in m["job.cpu"])
END
