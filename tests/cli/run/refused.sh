# A finished plan is run as it stands: what would change it is refused.
try() { prony run "$@" && exit 99; echo "status $?" >&2; }
prony plan -q -P exp.command=true -o p.json
try p.json -P a=1 -o out
try p.json --timeout 1 -o out
try p.json -o out -- more
try p.json --dry-run
try p.json --retry abc -o out
prony run -q --plan p.json -o out > /dev/null
try --resume out --timeout 1
try --resume out -V 'a=[1]'
try -P exp.docker=true -P exp.command=true -o other
try -P exp.command='echo "open' -o other
echo '{"schema": "prony.plan/1", "experiments": [{"id": "a", "params": {}}, {"id": "a", "params": {}}]}' > twice.json
try ./twice.json -o other
