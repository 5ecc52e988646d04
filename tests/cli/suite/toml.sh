# The same profile in JSON, YAML and TOML is the same plan.
export PRONY_NVML=
cat > mine.json <<'END'
{"*": {"prepare": ["sync"]}, "a": {"experiment": "m:f", "arguments": {"--x": 1.5, "--y": true}}}
END
cat > mine.yaml <<'END'
"*": {prepare: [sync]}
a: {experiment: "m:f", arguments: {--x: 1.5, --y: true}}
END
cat > mine.toml <<'END'
["*"]
prepare = ["sync"]
[a]
experiment = "m:f"
arguments = {"--x" = 1.5, "--y" = true}
END
for kind in json yaml toml; do
    prony plan mine.$kind --format json | sed -n 2,3p > $kind.out
done
cmp json.out yaml.out
cmp json.out toml.out
grep -c '"--x", "1.5", "--y"' json.out
