# A file may bring the batch: the same loss as training on it, whoever made it.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
python3 - <<'END'
import json, random, struct
def save(name, tensors):
    head, body = {}, b""
    for key, (kind, shape, values) in tensors.items():
        data = struct.pack("<%d%s" % (len(values), {"F32": "f", "I64": "q"}[kind]), *values)
        head[key] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(head).encode()
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + body)
g = random.Random(1)
x = [g.gauss(0, 1) for _ in range(2 * 784)]
save("good", {"input": ("F32", [2, 1, 28, 28], x), "labels": ("I64", [2], [3, 9])})
save("zero", {"input": ("F32", [2, 1, 28, 28], x), "labels": ("I64", [2], [3, 9]), "head.weight": ("F32", [10, 512], [0] * 5120)})
save("large", {"input": ("F32", [1, 1, 28, 28], x[:784]), "labels": ("I64", [1], [3])})
save("label", {"input": ("F32", [2, 1, 28, 28], x), "labels": ("I64", [2], [3, 10])})
save("shape", {"conv1.weight": ("F32", [4], [1, 2, 3, 4])})
save("other", {"layer.weight": ("F32", [4], [1, 2, 3, 4])})
END
try() {
    rm -rf out
    prony run exp.framework=native exp.model=lenet nn.threads=1 exp.replica_batch=2 exp.num_batches=2 exp.num_warmup_batches=0 \
        nn.peak=false "$@" -o out > said 2>&1 || true
    python3 - <<'END'
import glob, json
r = json.load(open(glob.glob("out/experiments/*/result.json")[0]))
print(r["status"], r["reason"], *r.get("warnings", []), *["%.4f" % x for x in r["results"].get("loss_data", [])[:1]])
END
}
try nn.load=zero
try nn.load=large
try nn.load=label
try nn.load=shape
try nn.load=other
