. "$SRC/tests/cli/suite/result.inc"
result s.a 0.0 0 100
try() { prony "$@" && exit 99; echo "status $?" >&2; }
try summary
try summary nowhere
try report nowhere --weights '{}'
try report results --weights nowhere.json
try report results --weights '{"s.a": "heavy"}'
try report results --weights '{"s.a": 1e999}'
try report results --weights '{"s.a": '
try report results --weights weights.ini
try report results --compare '[]'
try report results --price cheap
try report results --price 0
try report results --price -5
try report results --price 5
try report results --price 5 --weights '{}'
try report results --strict
echo '{"a": 1}' > other.json
try report other.json
try summary results -o nowhere/s.json
try report other.json --format json
