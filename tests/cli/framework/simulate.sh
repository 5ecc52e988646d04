# Nothing runs, but the command and the expanded model are there.
mkdir share
ln -s "$SRC/workloads" "$SRC/models" "$SRC/python" "$SRC/frameworks" share
export PRONY_SHARE="$TMP/share"
prony run -P exp.framework=pytorch -P exp.model=lenet -P exp.status=simulate -P runtime.python='"./none"' -o out
cat out/experiments/*/log.txt
