# As milarun: so many samples are measured, rounded up to whole batches.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony run -q exp.framework=native exp.model=lenet nn.threads=1 exp.replica_batch=4 --max-count 9 nn.peak=false \
    nn.compile=true nn.amp=true nn.evaluate=10 nn.save_gradients=true -o out --format json > all.json
python3 - <<'END'
import json
e = json.load(open("all.json"))["experiments"][0]
print(e["results"]["items"], len(e["results"]["time_data"]))
print(*e["warnings"], sep="\n")
END
prony run -q --plan out/plan.json --max-count 9 -o other || echo "status $?"
