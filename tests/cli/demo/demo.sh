# All of the demo: the main job first, on two screens. What trains is left out,
# and said to be, without oneDNN.
prony demo -o "a demo" > said
cat said
test "$(wc -l < said)" -le 50
if grep '.\{101,\}' said | grep -v '^prony is '; then exit 1; fi
grep -q '</html>' "a demo/report.html"
grep -q ' bound: \|balanced: ' "a demo"/probe/experiments/*/result.json
prony doctor | grep -q "^oneDNN *ok" || { [ ! -e "a demo/digits" ]; exit 0; }
python3 - <<'END'
import glob, json
r = json.load(open(glob.glob("a demo/digits/experiments/*/result.json")[0]))["results"]
loss = r["loss_data"]
if r["accuracy"] < 0.97 or sum(loss[:5]) < 10 * sum(loss[-5:]):
    print("not learned:", r["accuracy"], loss)
    raise SystemExit(1)
END
