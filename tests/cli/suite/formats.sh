# JSON with all three scores, Markdown; --strict ends with 7.
. "$SRC/tests/cli/suite/result.inc"
result s.a 0.0 0 100
result s.a 0.1 1 90
w='{"s.a": {"weight": 3}, "s.none": 1}'
prony report results --weights "$w" -q --format json \
    --compare '{"s.a": {"train": {"mean": 50, "std": 0}}}' --compare-gpus
prony report results --weights "$w" -q --format md
prony report results --weights "$w" -q --strict > report.txt || echo "status $?"
wc -l < report.txt
printf 's.a: {weight: 3}\n' > weights.yaml
prony report results --weights weights.yaml -q --strict
printf '["s.a"]\nweight = 3\n' > weights.toml
prony report results --weights weights.toml -q | tail -1
