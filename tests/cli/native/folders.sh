# A folder for each class, as ImageNet is unpacked: learned, and evaluated with those of val.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony doctor | grep -q "^formats.*png" || { echo "no format png; install libpng-dev"; exit 77; }
python3 - <<'END'
import os, struct, zlib
COLOURS = {"ant": (250, 20, 20), "bee": (20, 250, 20), "cow": (20, 20, 250)}
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(path, side, pixel):
    rows = (b"\0" + bytes(v for x in range(side) for v in pixel(x, y)) for y in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(rows)))
                + chunk(b"IEND", b""))
for split, count in ("train", 8), ("val", 5):
    for name, colour in COLOURS.items():
        os.makedirs(f"set/{split}/{name}")
        for i in range(count):
            png(f"set/{split}/{name}/photo{i}.{'png' if i % 2 else 'PNG'}", 30 + i,
                lambda x, y: [min(255, v + (7 * x + 5 * y + i) % 23) for v in colour])
END
base="exp.framework=native exp.model=lenet nn.threads=1 nn.peak=false exp.data_dir=set exp.replica_batch=4 exp.num_batches=30 nn.learning_rate=0.0005"
run() {
    prony run -q $base --format json "$@" > all.json || echo "status $?"
    python3 - <<'END'
import json
e = json.load(open("all.json"))["experiments"][0]
r = e.get("results", {})
if "accuracy" in r:
    print("evaluated", r["evaluated"], "right" if r["accuracy"] > 0.9 else "wrong")
told = [w for w in e.get("warnings", []) if "other programs" not in w]  # who may disturb us
print(*[e["status"], *([e["reason"]] if e.get("reason") else []), *told], sep="\n  ")
END
}
three='exp.model_opts={"input": [3, 28, 28], "classes": 3}'
run dataset.format=png "$three" nn.evaluate=1000 -o good
grep '^data: ' good/experiments/*/log.txt
# Everything that people get wrong has a remedy.
run dataset.format=png 'exp.model_opts={"input": [3, 28, 28], "classes": 2}' -o few
run "$three" -o format
run dataset.format=jpeg "$three" -o jpeg
mv set/val/cow set/val/yak
run dataset.format=png "$three" nn.evaluate=8 -o foreign
# No word about what is not there to be evaluated, unless it is asked for.
rm -r set/val
echo a photo > set/train/bee/readme.txt
run dataset.format=png "$three" nn.evaluate=8 -o none
prony run -q exp.workload=loader exp.data_dir=set dataset.format=png exp.replica_batch=6 exp.num_batches=4 -o load > said
grep -h '^data: ' load/experiments/*/log.txt
# A set that is made holds files out, too.
run exp.data_dir=made workflow.generate_data=true dataset.format=npz dataset.record_dims='[1, 28, 28]' dataset.num_classes=10 \
    dataset.num_files_train=8 dataset.num_files_eval=10 nn.evaluate=9 -o made.out
