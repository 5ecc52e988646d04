# --format json is one document, and says all that the tables know.
prony help --format json >all.json
prony help --params --format json | cmp - all.json
prony help exp.timeout --format json
prony help --params '^exp\.phase$' --format json
python3 - <<'END'
import json
rows = json.load(open("all.json"))
names = [row["name"] for row in rows]
assert names == sorted(names), "not sorted"
for row in rows:
    known = {"name", "kind", "default", "min", "max", "choices", "unit",
             "derived", "prefix", "since", "help", "env", "example",
             "older_names"}
    assert set(row) <= known, set(row) - known
    assert {"name", "kind", "since", "help", "example"} <= set(row), row
    assert row.get("prefix") or {"default", "env"} <= set(row), row
    assert ("min" in row) == ("max" in row), row
print("good")
END
