# All of the demo. Its last part is left out, and said to be, without oneDNN.
prony demo -o out
grep -q '</html>' out/report.html
grep -q ' bound: \|balanced: ' out/probe/experiments/*/result.json
prony doctor | grep -q "^oneDNN *ok" || { [ ! -e out/digits ]; exit 0; }
python3 - <<'END'
import glob, json
r = json.load(open(glob.glob("out/digits/experiments/*/result.json")[0]))["results"]
loss = r["loss_data"]
if r["accuracy"] < 0.97 or sum(loss[:5]) < 10 * sum(loss[-5:]):
    print("not learned:", r["accuracy"], loss)
    raise SystemExit(1)
END
