# Two processes learn what one with both batches would, to rounding, and report
# once; what they cannot be is said.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
run() {
    prony run -q exp.framework=native nn.threads=1 nn.peak=false nn.dropout=false exp.num_batches=8 --tiny --format json "$@" > all.json
    python3 -c 'import json; print(json.dumps(json.load(open("all.json"))["experiments"][0]))' >> runs
}
for model in "lenet nn.data=digits" wlm vae; do
    run exp.model=$model exp.replica_batch=8 -o "one-$model"
    run exp.model=$model exp.replica_batch=4 exp.num_local_replicas=2 -o "two-$model"
done
run exp.model=lenet exp.replica_batch=4 exp.num_local_replicas=3 exp.num_batches=2 -o three
python3 - <<'END'
import json
runs = [json.loads(line) for line in open("runs")]
three = runs.pop()
for one, two in zip(runs[::2], runs[1::2]):
    a, b = one["results"], two["results"]
    far = max(abs(x - y) / (abs(x) + 1e-3) for x, y in zip(a["loss_data"], b["loss_data"]))
    print(a["exp.model_title"], far < 2e-4 or far, len(a["loss_data"]), len(b["loss_data"]), a["items"], b["items"],
          a["replicas"], b["replicas"], a["loss_data"][0] != a["loss_data"][1])
# Whether there are too few processors for three depends on the machine.
import os
few = len(os.sched_getaffinity(0)) < 3
said = [w for w in three["warnings"] or [] if w.startswith("exp.num_local_replicas: 3 replicas share ")]
print(three["results"]["replicas"], three["results"]["items"], bool(said) == few)
print(three["results"]["verdict"].partition("(")[2].partition(" in ")[0])
END
prony run -q exp.framework=native exp.model=lenet nn.data=digits nn.samples=31 exp.num_local_replicas=2 -o bad || echo "status $?"
prony run -q exp.framework=native exp.model=lenet exp.num_local_replicas=257 -o bad > said || echo "status $?"
grep -o 'exp.num_local_replicas:.*' said
