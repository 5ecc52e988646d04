# A pipe that nobody reads, the run's own files, somebody else's files.
mkfifo fifo
prony run -q -P exp.command='echo x' -P exp.log_file=fifo -P exp.rerun=always -o a --format json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["experiments"][0]["warnings"])'
prony run -q -P exp.command='echo x' -P exp.log_file=b/plan.json -P exp.rerun=always -o b --format json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["experiments"][0]["warnings"])'
prony run -q --resume b > /dev/null
mkdir mine
echo keep > mine/env.json
prony run -q -P exp.command=true -o mine || echo "status $?"
cat mine/env.json
prony run -q -P exp.command='echo ${n}' -P exp.log_file=same.log -V n='[1, 2]' -o c || echo "status $?"
prony run -q -o -P exp.command=true || echo "status $?"
echo '{"schema": "prony.plan/1", "experiments": []}' > empty.json
prony run -q ./empty.json -o d || echo "status $?"
prony run -q -P exp.command='["sh", "-c", "echo __results.f__= [1, [NaN]]"]' -o e --format json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["experiments"][0]["warnings"])'
