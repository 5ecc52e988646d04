# Every experiment has a status, also one that was never reached.
prony run -q --fail-fast -P exp.command=false -V n='[1, 2]' -o out --format json > doc.json || echo "status $?"
python3 -c 'import json; print([(e["status"], e["reason"]) for e in json.load(open("doc.json"))["experiments"]])'
