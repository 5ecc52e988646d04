try() {
    prony compare "$@" && echo "no error: $*" || echo "status $?"
}
echo '[{"exp.model": "a", "results.throughput": 5}]' >a.json
echo '[{"exp.model": "a", "exp.other": 5}]' >none.json
echo '[]' >empty.json
echo 'x' >bad.json
try
try a.json
try a.json nowhere.json
try a.json none.json
try a.json empty.json
try a.json a.json --measure apples
try a.json a.json --fail-if slow
try a.json a.json --fail-if failed:5%
try a.json a.json --least x
try a.json a.json --confidence 1
try a.json a.json --confidence 20%
try a.json a.json --noise 0
try a.json a.json --format xml
try a.json nowhere.json --format json
