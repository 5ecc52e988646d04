prony run -q -P exp.command=true -V n='[1, 2, 3]' -o out > /dev/null
rm out/experiments/0002-*/result.json
prony run --resume out
grep -c experiment_start out/events.ndjson
