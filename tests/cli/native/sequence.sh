# A model of words learns from a text that is made up; what it did not learn from
# is told as well. A token is what counts in the other.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
run() { prony run -q exp.framework=native nn.threads=1 nn.peak=false nn.dropout=false --tiny --format json "$@" > all.json; }
run exp.model=wlm exp.replica_batch=8 exp.num_batches=80 nn.evaluate=20 -o wlm
python3 - <<'END'
import json
r = json.load(open("all.json"))["experiments"][0]["results"]
loss = r["loss_data"]
print(r["exp.model_title"], r["item"], r["items"], len(loss), r["params"])
print(sum(loss[-8:]) < 0.8 * sum(loss[:8]), round(loss[0], 3))
print(r["evaluated"], 1 < r["evaluate_loss"] < 5, 0 < r["accuracy"] < 1)
END
grep '^wlm\|^loss\|^sgd' wlm/experiments/*/log.txt | sed 's/ [^ ]* \(3\.[0-9]*\|2\.[0-9]*\) over/ … over/'
run exp.model=gpt exp.replica_batch=2 --max-count 100 -o gpt
python3 - <<'END'
import json
r = json.load(open("all.json"))["experiments"][0]["results"]
near = lambda a, b: abs(a - b) <= 1e-6 * abs(b)
print(r["item"], r["items"], len(r["time_data"]), near(r["throughput"], 24 / r["time"] * 1e3))
END
# Rating has no classes to find, and inference no loss; held-out data have one.
run exp.model=recom exp.num_batches=3 nn.evaluate=16 exp.phase=inference -o recom
python3 - <<'END'
import json
r = json.load(open("all.json"))["experiments"][0]["results"]
print("accuracy" in r, "loss" in r, r["evaluated"], 0.5 < r["evaluate_loss"] < 1.5)
END
