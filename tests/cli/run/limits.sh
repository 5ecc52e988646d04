# Memory is bounded, whatever a file or a parameter says; the limit is told.
mkdir -p data/train
python3 - <<'EOF'
import struct, zlib
zeros = bytes(1 << 20)
count = 4200
head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % (
    count << 20)
head += b" " * (128 - 10 - 1 - len(head)) + b"\n"
head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
c = zlib.compressobj(9, zlib.DEFLATED, -15)
data = c.compress(head) + c.flush(zlib.Z_FULL_FLUSH)
block = c.compress(zeros) + c.flush(zlib.Z_FULL_FLUSH)
data += block * count + b"\x03\x00"
size, packed, name = len(head) + (count << 20), len(data), b"x.npy"
extra = struct.pack("<HHQQ", 1, 16, size, packed)
local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 45, 0, 8, 0, 33, 0,
                    0xffffffff, 0xffffffff, len(name), len(extra))
local += name + extra
entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 45, 45, 0, 8, 0, 33, 0,
                    0xffffffff, 0xffffffff, len(name), len(extra), 0, 0, 0, 0,
                    0) + name + extra
end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(entry),
                  len(local) + packed, 0)
open("data/train/img_0_of_1.npz", "wb").write(local + data + entry + end)
EOF
wc -c < data/train/img_0_of_1.npz | awk '{ print $1 < 5000000 }'
set="dataset.format=npz dataset.num_files_train=1 reader.batch_size=1 dataset.data_folder=data
    dataset.num_subfolders_train=0 workflow.evaluation=false
    train.epochs=1 workflow.generate_data=false reader.data_loader=pytorch
    train.computation_time=0.001"
try() { prony run default $set "$@" -o out > said 2>&1 && exit 99
    grep -h -o 'it has.*\|.null. holds.*\|.memory. holds.*' said | head -1 |
        sed 's/; last line.*//'
    rm -rf out; }
# Sanitizers reserve far more than they use.
[ -n "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ] || ulimit -v 3000000
try dataset.record_length_bytes=65536
# A file that is made up in memory.
try dataset.num_samples_per_file=4294967297 storage.engine=null
try dataset.num_samples_per_file=4294967297 storage.engine=memory
# No sum of sizes goes beyond what there is.
prony plan default dataset.num_files_train=1000000000000 dataset.format=csv \
    dataset.num_samples_per_file=1000 dataset.record_length_bytes=1000000000 \
    dataset.record_length_bytes_stdev=100000000 train.epochs=1000 | tail -1
