prony run -q -P exp.command=true -V n='[1, 2, 3]' -o out > /dev/null
rm out/experiments/0002-*/result.json
for f in out/experiments/0003-*/result.json; do echo '{"half' > "$f"; done
prony report out
