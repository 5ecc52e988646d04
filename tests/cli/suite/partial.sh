# An empty folder, a folder of folders, a run directory of ours.
. "$SRC/tests/cli/suite/result.inc"
prony summary results
prony report results --weights '{"a": {"weight": 1}}' -q
result s.a 0.0 0 100
mkdir all
mv results all/one
prony report all
cat > run.yaml << END
exp.name: t
exp.command: echo "__results.throughput__= \${rate}"
rate: 5
END
prony run run.yaml -V rate='[5, 7]' --repeat 2 -o run -q > out.txt
prony run run.yaml --repeat 2 -o run1 -q > out.txt
prony report run --weights '{"t.2": {"weight": 1}}'
prony report run --compare run1 -q
prony summary run1 | head -12
