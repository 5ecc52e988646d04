# Run directories: repeats, failures, tests that are missing or new, one run
# each; a test that a name steers the terminal with.
cat >sweep.json <<'END'
{"parameters": {"exp.command": "sh rate.sh ${exp.model} ${speed}",
                "exp.model": "x", "speed": 100, "monitor.frequency": 0},
 "variables": {"exp.model": ["steady", "breaks", "gone"]}}
END
cat >rate.sh <<'END'
test "$1 $2" != "breaks 200" || exit 3
echo "__results.throughput__= $2"
END
prony run sweep.json --repeat 3 -o a -q >/dev/null
sed 's/"gone"/"came\\u001b[31m"/' sweep.json >other.json
prony run other.json --repeat 3 -P speed=200 -o b -q >/dev/null && exit 9
prony compare a b
prony compare a b --fail-if missing && exit 9
prony compare a b --fail-if failed >/dev/null && exit 9
prony run sweep.json -P speed=101 -o c -q >/dev/null
prony run sweep.json -o d -q >/dev/null
prony compare c d
