# An interpreter without PyTorch says so, and what to do.
mkdir share
ln -s "$SRC/workloads" "$SRC/models" "$SRC/python" "$SRC/frameworks" share
export PRONY_SHARE="$TMP/share"
printf '#!/bin/sh\nexec python3 -S -B "$@"\n' > bare
chmod +x bare
prony run -P exp.framework=pytorch -P exp.model=lenet -P runtime.python='"./bare"' -o none || echo "status $?"
[ ! -e none ]
prony run -P exp.framework=pytorch -P exp.model=lenet -P runtime.python='"./bare"' --no-validation -o out || echo "status $?"
cat out/experiments/*/log.txt
