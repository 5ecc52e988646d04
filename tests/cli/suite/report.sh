# tags: valgrind
# milarun's table and score, from a folder and from its summary.
. "$SRC/tests/cli/suite/result.inc"
result s.a 0.0 0 100
result s.a 0.1 1 90
result s.b 0.0 0 50 false
result s.b 0.1 1 60
w='{"s.a": {"weight": 8}, "s.b": {"weight": 2}, "s.none": {"weight": 1}}'
prony report results
prony report results --weights "$w" --price 1_000 --compare-gpus -q
prony summary results > base.json
printf '{"s.a": {"train": {"mean": 50, "std": 5}}}' > other.json
prony report base.json --weights "$w" --compare base.json --penalize-variance \
    --title 'Two of them' --compare other.json
