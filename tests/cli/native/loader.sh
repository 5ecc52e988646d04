# Images are made, loaded as for training, and counted; without any there is
# nothing to load.
prony run -q exp.workload=loader workflow.generate_data=true dataset.format=jpeg dataset.num_files_train=12 exp.data_dir=set \
    dataset.record_dims='[40, 48, 3]' exp.replica_batch=4 exp.num_batches=5 exp.num_warmup_batches=2 \
    exp.model_opts='{"input": [3, 32, 24]}' -o out > said
sed -n 's/[0-9.]* images.s/N images\/s/; s/in [^)]*/in …/; s/^0001-[0-9a-f]*: //p' said
prony run -q exp.workload=loader dataset.format=jpeg dataset.num_files_train=12 exp.data_dir=set nn.augment=false \
    exp.replica_batch=5 --max-count 11 exp.num_warmup_batches=0 --format json -o again > all.json
python3 - <<'END'
import json
r = json.load(open("all.json"))["experiments"][0]["results"]
near = lambda a, b: abs(a - b) <= 1e-6 * abs(b)
print(r["item"], r["items"], len(r["time_data"]), near(r["throughput"], 5 / r["time"] * 1e3))
END
try() { prony run exp.workload=loader "$@" -o bad && exit 99; echo "status $?" >&2; }
try
try exp.data_dir=set exp.replica_batch=0
try exp.data_dir=set exp.model_opts='{"input": [3, 0, 24]}'
try exp.data_dir=set exp.model_opts='{"input": 7}'
try exp.data_dir=set dataset.format=synthetic
[ ! -e bad ]
prony run -q exp.workload=loader exp.data_dir=nowhere dataset.format=jpeg --no-validation -o none > said || echo "status $?"
grep -o 'nowhere.*no such folder' said
