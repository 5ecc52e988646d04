# TensorFlow and ONNX Runtime by hand: what is wrong with the arguments, before
# anything is imported.
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
