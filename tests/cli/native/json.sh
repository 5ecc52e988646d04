# Every result that is promised, and how they hang together.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony run -q exp.framework=native exp.model=lenet nn.threads=1 exp.replica_batch=4 exp.num_batches=5 \
    exp.num_warmup_batches=2 nn.profile=true -o out --format json > all.json
python3 - <<'END'
import json
e = json.load(open("all.json"))["experiments"][0]
r = e["results"]
t = r["time_data"]
near = lambda a, b: abs(a - b) <= 1e-6 * abs(b)
print("times", len(t), near(r["time"], sum(t) / 5), near(r["time_min"], min(t)),
      near(r["time_max"], max(t)), near(r["time_p50"], sorted(t)[2]),
      r["time_p50"] <= r["time_p90"] <= r["time_p99"] <= r["time_max"])
print("items", r["items"], r["item"], near(r["throughput"], 4 / r["time"] * 1e3))
print("losses", len(r["loss_data"]), r["loss"] == r["loss_data"][-1])
print("flops", near(r["flops_rate"], r["flops"] / r["time"] * 1e3),
      near(r["efficiency"], r["flops_rate"] / r["peak_flops_rate"]), r["flops"] > 0)
print("memory", r["memory_planned"] > 1e6, r["memory_peak"] > 1e6)
print("share", 0 < r["cpu_share"] <= 1)
print("threads", r["threads"], "start", 0 < r["start_s"] < 30)
rows = r["layers"]
print("layers", {x["op"] for x in rows} >= {"conv", "linear", "max_pool"},
      near(sum(x["time_share"] for x in rows), 1),
      all(x["forward_ms"] >= 0 and x["backward_ms"] >= 0 for x in rows))
print(r["exp.model_title"], r["exp.framework_title"], "accuracy" in r)
END
