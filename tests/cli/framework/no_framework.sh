# An interpreter without TensorFlow or ONNX Runtime says so, and what to do.
mkdir share
ln -s "$SRC/workloads" "$SRC/models" "$SRC/python" "$SRC/frameworks" share
export PRONY_SHARE="$TMP/share"
printf '#!/bin/sh\nexec python3 -S -B "$@"\n' > bare
chmod +x bare
for framework in tensorflow onnxruntime; do
    prony run -q -P exp.framework=$framework -P exp.model=lenet -P exp.phase=inference -P runtime.python='"./bare"' --no-validation -o $framework || echo "status $?"
    cat $framework/experiments/*/log.txt
done
