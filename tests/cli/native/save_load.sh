# Weights that were saved are begun with; the file is one of safetensors.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
run() { prony run -q exp.framework=native exp.model=lenet nn.threads=1 exp.replica_batch=4 exp.num_batches=3 nn.peak=false "$@" > said; }
run nn.save=w.safetensors nn.save_gradients=true -o a
run nn.load=w.safetensors exp.num_warmup_batches=0 -o b
run nn.load=w.safetensors exp.phase=inference nn.save=i.safetensors -o c
run nn.load=w.safetensors exp.phase=inference nn.save=j.safetensors -o d
cmp i.safetensors j.safetensors
ls
python3 - <<'END'
import glob, json, struct
def head(name):
    b = open(name, "rb").read()
    n = struct.unpack("<Q", b[:8])[0]
    h = json.loads(b[8:8 + n])
    h.pop("__metadata__")
    assert max(t["data_offsets"][1] for t in h.values()) == len(b) - 8 - n
    return h
w = head("w.safetensors")
print(w["conv1.weight"]["shape"], w["grad.conv1.weight"]["shape"], w["output"]["shape"])
print(sorted(head("i.safetensors")) == sorted(k for k in w if not k.startswith("grad.")))
def loss(d):
    return json.load(open(glob.glob(d + "/experiments/*/result.json")[0]))["results"]["loss_data"]
print(len(loss("a")), len(loss("b")), loss("b")[0] != loss("a")[0])
END
