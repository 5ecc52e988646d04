# tags: valgrind
# The summary: steady slices only, failures and NaN left out, each device.
. "$SRC/tests/cli/suite/result.inc"
result s.a 0.0 0 100
result s.a 1.0 0 110 false
result s.b 0.0 1 50 true NaN
result s.b 1.0 1 60
result s.scale 0.1 0,1 70
prony summary results
prony summary results -o out.json
prony summary results --out out2.json
cmp out.json out2.json
echo '{"not": "a result"}' > results/other.json
prony summary results | sed '$d' > out3
printf '}' >> out3
cmp out3 out.json
