# Files of other tools are recognised, and it is said that they cannot be read.
try() { prony plan "$1" && exit 99; echo "status $?" >&2; }
printf '{"a": {"experiment": "x:main", "arguments": {}}}\n' > milarun.json
printf 'NUM_GPU=2\n' > lambda.sh
try ./milarun.json
try ./lambda.sh
