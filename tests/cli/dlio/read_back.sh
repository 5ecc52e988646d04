# Checkpoints that others wrote, made here as torch.save and TensorFlow make
# them: read back, checked by their checksums, refused for another model.
cat > make.py <<'END'
import os, struct, zipfile
BLOB = bytes(i * 7 % 251 for i in range(5000))
TOP = "checkpoints/global_epoch1_step1/"
os.makedirs(TOP)
def text(t):
    return b"X" + struct.pack("<I", len(t)) + t
PICKLE = (b"\x80\x02}q\0" + text(b"a") + b"q\x01ctorch._utils\n_rebuild_tensor_v2\nq\x02(("
          + text(b"storage") + b"q\x03ctorch\nCharStorage\nq\x04" + text(b"0") + b"q\x05"
          + text(b"cpu") + b"q\x06M\x88\x13tq\x07QK\0M\x88\x13\x85q\x08K\x01\x85q\x09\x89"
          b"ccollections\nOrderedDict\nq\x0a)Rq\x0btq\x0cRq\x0ds.")
with zipfile.ZipFile(TOP + "model_states-0.pt", "w") as z:
    z.writestr("archive/data.pkl", PICKLE)
    z.writestr("archive/data/0", BLOB)
    z.writestr("archive/version", "3\n")
TABLE = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
    TABLE.append(i)
def crc(data):
    c = 0xffffffff
    for b in data:
        c = TABLE[(c ^ b) & 255] ^ c >> 8
    c ^= 0xffffffff
    return struct.pack("<I", ((c >> 15 | c << 17) + 0xa282ead8) & 0xffffffff)
def number(n):
    return (bytes([n & 127 | 128]) + number(n >> 7)) if n > 127 else bytes([n])
def entry(key, value):
    return b"\0" + number(len(key)) + number(len(value)) + key + value
def block(entries):
    entries += struct.pack("<II", 0, 1) + b"\0"
    return entries + crc(entries)
SIZE = number(len(BLOB))
first = block(entry(b"", b"\x08\x01\x1a\x02\x08\x01")
              + entry(b"a/V", b"\x08\x06\x12\x05\x12\x03\x08" + SIZE + b"\x28" + SIZE
                      + b"\x35" + crc(BLOB))
              + entry(b"save_counter/V", b"\x08\x09\x12\0\x20" + SIZE + b"\x28\x08\x35abcd"))
meta = block(b"")
index = block(entry(b"t", number(0) + number(len(first) - 5)))
foot = (number(len(first)) + number(len(meta) - 5) + number(len(first) + len(meta))
        + number(len(index) - 5))
name = TOP + "model_states-0.pb-1."
with open(name + "index", "wb") as f:
    f.write(first + meta + index + foot.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db"))
with open(name + "data-00000-of-00001", "wb") as f:
    f.write(BLOB + b"\1".ljust(8, b"\0"))
END
python3 make.py
try()
{
    rm -rf out
    echo "-- $*"
    prony run -q default workflow.train=false workflow.evaluation=false \
        workflow.checkpoint=true model.model_size_bytes=5000 \
        checkpoint.num_checkpoints_read=1 "$@" -o out > /dev/null 2>&1 ||
        echo "status $?"
    grep -o '"reason": "[^;]*\|"verdict": "[^"]*read in\|every byte as it was written' \
        out/experiments/*/result.json || :
}
flip()
{
    python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(3000); b = f.read(1)[0]; f.seek(3000); f.write(bytes([b ^ 4]))' "$1"
}
for f in pytorch tensorflow; do
    try emulate.framework=$f
    try emulate.framework=$f checkpoint.verify=true
    try emulate.framework=$f checkpoint.layout=torch checkpoint.verify=true
    try emulate.framework=$f model.model_size_bytes=5001
done
flip checkpoints/global_epoch1_step1/model_states-0.pt
flip checkpoints/global_epoch1_step1/model_states-0.pb-1.data-00000-of-00001
for f in pytorch tensorflow; do
    try emulate.framework=$f checkpoint.verify=true
done
