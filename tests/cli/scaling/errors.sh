try() {
    prony scaling "$@" && echo "no error: $*" || echo "status $?"
}
echo '[{"exp.model": "a", "results.time": 0, "exp.effective_batch": 1}]' >zero.json
echo '[]' >empty.json
try
try zero.json --summary-file zero.json
try nowhere.json
try empty.json
try zero.json --target-variable results.other
try zero.json --type other
try zero.json -q
