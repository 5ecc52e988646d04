# DLBS's series come into the log, and from there into the results.
# Not over before the first look was taken, however busy the machine is.
cat >wait.sh <<'END'
until [ -e "$TMP"/out/experiments/*/monitor.ndjson ]; do sleep 0.02; done
exec sleep 0.2
END
prony run -q -P exp.command="[\"sh\",\"$TMP/wait.sh\"]" monitor.frequency=0.05 \
    -P monitor.timeseries=time:str:1,cpu:float:5,gpus:float:8: -o out >/dev/null
cd out/experiments/*
sed -n 's/=\[.*/=/p' log.txt
python3 - <<'END'
import json
r = json.load(open("result.json"))["results"]
use = {k: v for k, v in r.items() if k.startswith("use.")}
print(sorted(use), len(use["use.cpu"]) == len(use["use.time"]) > 0)
print(use["use.gpus"][0])
END
cd ../../..
prony run -q -P exp.command='["true"]' monitor.timeseries=cpu:percent:5 -o bad \
    >/dev/null || echo "exit $?"
prony run -q --no-validation -P exp.command='["true"]' \
    monitor.timeseries=cpu:percent:5 -o bad >/dev/null || echo "exit $?"
grep -h '"reason"' bad/experiments/*/result.json
