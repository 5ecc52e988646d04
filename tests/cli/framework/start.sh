# How the program is started: any interpreter, a launcher, arguments after --.
mkdir share
ln -s "$SRC/workloads" "$SRC/models" "$SRC/python" "$SRC/frameworks" share
export PRONY_SHARE="$TMP/share"
cat > fake <<'END'
#!/bin/sh
echo "$NAME: $(basename "$1") $2 $(basename "$3") $4 $(basename "$5") $6"
cut -c 1-42 "$3"
echo '__results.throughput__= 12.5'
END
chmod +x fake
prony run -P exp.framework=pytorch -P exp.model=lenet -P exp.model_opts='{"classes": 7}' -P runtime.python='"./fake"' -P runtime.launcher='"NAME=me nice -n 1"' -o out -- nn.seed=3
cat out/experiments/*/log.txt
grep -o '"classes": [0-9]*' out/experiments/*/model.json
