# A data set is made and read: the share of time spent waiting for it.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony run -q exp.framework=native exp.model=lenet nn.threads=1 exp.replica_batch=4 exp.num_batches=3 workflow.generate_data=true \
    dataset.format=npz dataset.num_files_train=8 dataset.record_dims='[1, 28, 28]' exp.data_dir=set -o out \
    nn.peak=false --format json > all.json
python3 - <<'END'
import json
e = json.load(open("all.json"))["experiments"][0]
r = e["results"]
print(0 <= r["data_wait"] <= 1, r["items"], len(r["loss_data"]))
print(*e["warnings"], sep="\n")
END
# Classes that differ are worth no word, labels that are made up are.
run() {
    prony run -q exp.framework=native exp.model=lenet nn.threads=1 exp.replica_batch=4 exp.num_batches=3 workflow.generate_data=true \
        dataset.num_files_train=8 dataset.num_classes=10 nn.peak=false --format json "$@" > more.json
    python3 -c 'import json; print(*json.load(open("more.json"))["experiments"][0].get("warnings", []) or ["none"])'
}
run dataset.format=npz dataset.record_dims='[1, 28, 28]' exp.data_dir=ten -o ten.out
run dataset.format=csv dataset.record_length_bytes=784 exp.data_dir=csv -o csv.out
ls set/train | wc -l
grep '^data: ' out/experiments/*/log.txt
prony run -q exp.framework=native exp.model=lenet nn.threads=1 exp.replica_batch=4 exp.num_batches=3 exp.data_dir=nowhere --no-validation \
    dataset.num_files_train=8 dataset.format=npz -o bad > said || echo "status $?"
