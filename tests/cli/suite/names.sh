# Whatever jobs and suites are called, their results lie in the run directory.
export PRONY_NVML=
long=$(printf 'x%.0s' $(seq 90))
profile() { # file, job, parameters
    echo "{\"$2\": {\"experiment\": \"command\", \"command\": [\"true\"],
           \"parameters\": $3}, \"next\": {\"experiment\": \"command\",
           \"command\": [\"true\"]}}" > "$1"
}
show() { ls "$1" | sed -n 's/[0-9]*-[0-9]*-[0-9]*\.json$/TIME.json/p'; }

mkdir in
profile p.json job '{"suite.name": "../../evil", "suite.job": "a/b"}'
prony run -q p.json -o in/out >/dev/null
show in/out
ls . in

# As long as a name of a file can be, with what comes after it.
profile "$long$long.json" "$long" '{}'
prony run -q "$long$long.json" -o long >/dev/null
show long | sed 's/xxx*/X/g'
python3 - <<'END'
import glob, json
for path in sorted(glob.glob("long/*.J0.*.json")):
    r = json.load(open(path))
    print(len(r["name"]), r["success"])
END
