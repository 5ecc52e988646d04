# Called as milarun it takes milarun's command line.
export PRONY_NVML=
ln -s "$(command -v prony)" milarun
m=./milarun
say() { "$@" || echo "status $?"; }
say $m 2>&1 | tail -1
say $m jobs
say $m frobnicate 2>&1 | tail -2
say $m jobs x.json --cgexec --no-cgexec 2>&1 | tail -2
say $m jobs x.json --repeat 2>&1 | tail -2
say $m jobs x.json --frob 2>&1 | tail -2
say $m jobs x.json
say $m jobs x.json -o out
say $m run m:f
cat > mine.json <<'END'
{"j": {"experiment": "command", "command": "true", "arguments": {}},
 "k": {"experiment": "command", "command": "false", "arguments": {}}}
END
export MILARUN_DATAROOT=data MILARUN_OUTROOT=root
say $m jobs mine.json --name j --no-cg > /dev/null 2>&1
ls root | sed 's/[0-9]/N/g'
say $m jobs mine.json --name zz
say $m jobs mine.json --out=out --name j k >/dev/null 2>&1
say $m jobs mine.json --out out --name j >/dev/null 2>&1
find out -name 'mine*' | sed 's/[0-9]*-[0-9]*-[0-9]*\.json/TIME/;s/run\.[0-9TZ]*/run.TIME/' | sort
unset MILARUN_OUTROOT
say $m run prony.native:toy_reg --extra '{"x": 1}' --job-id 3.1 --experiment-name a.b \
    -- --max-count 600 2>/dev/null > one.json
python3 -c 'import json; r = json.load(open("one.json")); print(r["name"], r["job_id"], r["x"], r["success"], r["call"])'
say $m rerun one.json -o again.json -- --seed 5 2>&1 | sed '/^=====*$/q'
python3 -c 'import json; r = json.load(open("again.json")); print(r["name"], r["job_id"], r["call"]["argv"])'
say $m dataset milarun.datasets:mnist m:nothing
