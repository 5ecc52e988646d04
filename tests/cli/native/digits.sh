# Digits are learned, held-out ones are read in whole batches; so few steps do not
# make a master.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony run -q exp.framework=native exp.model=lenet nn.threads=1 exp.replica_batch=16 exp.num_batches=40 nn.data=digits \
    nn.evaluate=300 nn.samples=400 -o out --format json > all.json
python3 - <<'END'
import json
r = json.load(open("all.json"))["experiments"][0]["results"]
loss = r["loss_data"]
print(r["evaluated"], r["accuracy"] > 0.6, sum(loss[:5]) > 4 * sum(loss[-5:]))
END
