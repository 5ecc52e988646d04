# Learning by playing: steps of episodes are what is counted.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
run() { prony run -q exp.framework=native exp.model=cart nn.threads=1 nn.peak=false --tiny --format json "$@" > all.json; }
run --max-count 500 nn.evaluate=5 -o a
python3 - <<'END'
import json
e = json.load(open("all.json"))["experiments"][0]
r = e["results"]
near = lambda a, b: abs(a - b) <= 1e-6 * abs(b)
print(r["item"], 500 <= r["items"] < 700, len(r["loss_data"]) == len(r["time_data"]) + 1)
print(near(r["throughput"], r["items"] / sum(r["time_data"]) * 1e3), 8 <= r["reward"] <= 200)
print(*e["warnings"])
END
run exp.num_batches=7 exp.num_warmup_batches=2 exp.replica_batch=3 -o b
python3 - <<'END'
import json
r = json.load(open("all.json"))["experiments"][0]["results"]
print(len(r["time_data"]), len(r["loss_data"]), 7 * 8 <= r["items"] <= 7 * 200)
END
run exp.num_batches=5 exp.phase=inference -o c
python3 -c 'import json; r = json.load(open("all.json"))["experiments"][0]["results"]; print("loss" in r, r["reward"] > 8)'
