# The bundled suites: known by name, every weighted test is there, and a few
# short ones run from data that is made to a report.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony plan --list | grep -E "^  (quick|standard) "
prony plan quick -d data | sed -n 's/^00.* \(prony[^ ]*\).*/\1/p'
python3 - <<'END'
import json, os
bundled = [os.path.splitext(f)[0] for d in ("workloads", "suites")
           for f in os.listdir(os.path.join(os.environ["SRC"], d)) if f.endswith((".yaml", ".json"))]
print("no name twice", len(bundled) == len(set(bundled)))
for name in "quick", "standard":
    folder = os.path.join(os.environ["SRC"], "suites")
    tests = json.load(open("%s/%s.json" % (folder, name)))
    weights = json.load(open("%s/weights/%s.json" % (folder, name)))
    want = {"%s.%s%s" % (name, t, ".1" * (t == "scaling")) for t in tests if t != "*"}
    print(name, len(want), want == set(weights), list(tests)[1:3])
END
prony run -q quick -d data --name toy_reg,cart,loader -o out --no-isolation -- \
    --max-time 1 --min-time 0 --dataset.num_files_train 8 --batch-size 4 > table
python3 - <<'END'
import glob, json
for path in sorted(glob.glob("out/quick.*.json")):
    d = json.load(open(path))
    t = d["timings"]["train"]
    s = d["prony"]["steady"]
    print(d["name"], d["success"], 6 <= len(t["rates"]) <= 30, t["sample_duration"],
          s["low"] <= s["rate"] <= s["high"], d["prony"]["monitor"]["samples"] > 0, d["prony"]["engine"])
END
# Every table says which part of a run its rates are of.
grep '^throughput: ' table
prony report out -q --format csv | tr -d '\r' | sed 's/.*,//' | uniq
prony report out -q --format md | grep '^perf: '
prony report out 2>&1 >table | head -1
prony report out --weights "$SRC/suites/weights/quick.json" | sed -n 's/^\(quick.[a-z_]*\).*/\1/p'
