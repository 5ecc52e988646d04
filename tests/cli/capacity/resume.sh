# A search that is done is only shown; a trial that is not recorded is run
# again; nothing can be changed.
set="exp.workload=emulate storage.engine=null dataset.format=npy \
    train.computation_time=0.01 --au 0.01 --max 2 --steps 2"
prony capacity $set -o out -q > first
prony capacity --resume out -q | cmp - first
prony report out | cmp - first
prony report out --format json | cmp - out/capacity.json
prony report out --format csv | head -1 | tr -d '\r'
python3 - << 'END'
import json
d = json.load(open("out/capacity.json"))
d["done"] = False
open("popped", "w").write(d["trials"].pop()["name"])
json.dump(d, open("out/capacity.json", "w"))
END
mkdir -p out/trials/0009-a7-r1/experiments
prony capacity --resume out -q > second
python3 - << 'END'
# What is tried, and how often, depends on what else the machine does.
import json
import os
names = [t["name"] for t in json.load(open("out/capacity.json"))["trials"]]
print(names[:1], sorted(os.listdir("out/trials")) == names,
      open("popped").read() in names)
END
prony capacity --resume out --max 3 || echo "status $?"
prony capacity --resume out other.yaml || echo "status $?"
prony capacity $set -o out || echo "status $?"
echo '{}' > out/capacity.json
prony capacity --resume out || echo "status $?"
