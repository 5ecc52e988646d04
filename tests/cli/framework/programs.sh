# TensorFlow and ONNX Runtime by hand: what is wrong with the arguments, before
# anything is imported; and how they write figures for people.
echo '{}' > model.json
try() {
    name=$1
    shift
    python3 -S -B "$SRC/python/prony/backends/$name.py" --model model.json "$@" || echo "status $?"
}
for name in tensorflow onnxruntime; do
    try $name nn.tread=2
    try $name exp.dtype=int8
    try $name exp.replica_batch=0
    try $name nn.momentum=-0.5
    try $name nn.data=digits
    try $name exp.data_dir=images
done
try onnxruntime exp.phase=training
python3 -S -B - <<'END'
import sys
sys.path.insert(0, "%s/python" % __import__("os").environ["SRC"])
from prony.results import scaled
for value in 0, .5, 1.25, 354.6e6, 999.6e6, 4.18e6, 8.15e20:
    print(scaled(value, "B"), scaled(value, "s", ("µ", "m", "")), sep=", ")
END
