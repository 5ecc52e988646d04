# GPUs of a made-up library are watched, one of them lost after two looks.
test -e "$FAKE_NVML" || { echo "no $FAKE_NVML; ninja tests/fake_nvml.so"; exit 77; }
export PRONY_NVML="$FAKE_NVML" FAKE_NVML_LOST=1:3:9999
cat >wait.sh <<'END'
until [ -e "$TMP"/out/experiments/*/monitor.ndjson ]; do sleep 0.02; done
exec sleep 0.2
END
prony run -q -P exp.command="[\"sh\",\"$TMP/wait.sh\"]" exp.gpus= \
    monitor.frequency=0.02 -P monitor.timeseries=gpus:float:8: -o out >/dev/null
cd out/experiments/*
python3 - <<'END'
import json
r = json.load(open("result.json"))
m = r["monitor"]
print(m["gpu.0.use"]["mean"], m["gpu.1.use"]["mean"], m["gpu.0.memory_bytes"])
print(m["gpu.0.power_w"]["total"] > m["gpu.1.power_w"]["total"] > 0)
print(abs(m["energy_j"] - m["gpu.0.power_w"]["total"]
          - m["gpu.1.power_w"]["total"]) < 0.01)
print({len(gpus) for gpus in r["results"]["use.gpus"]})
looks = [json.loads(line) for line in open("monitor.ndjson")]
print([look["gpu.1.use"] for look in looks if "gpu.1.use" in look])
END
