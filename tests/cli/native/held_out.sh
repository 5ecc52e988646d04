# All losses of held-out samples are told, also of parts that the output does not
# need, and they are the same when the weights are loaded again.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
run() { prony run -q exp.framework=native exp.replica_batch=4 nn.threads=1 nn.peak=false --tiny nn.evaluate=8 --format json "$@" > all.json; }
for model in bert dcgan; do
    run exp.model=$model exp.num_batches=6 nn.save=$model -o a-$model
    cp all.json trained.json
    run exp.model=$model exp.num_batches=1 nn.load=$model exp.phase=inference -o b-$model
    python3 - <<'END'
import json
a, b = (json.load(open(n))["experiments"][0]["results"] for n in ("trained.json", "all.json"))
print(a["evaluated"], b["evaluated"], a["evaluate_loss"] == b["evaluate_loss"], 2 < a["evaluate_loss"] < 8, "accuracy" in a)
END
done
# Of BERT, three masked words in each sample are looked at.
grep -o 'of 24 held-out classes' a-bert/experiments/*/log.txt
