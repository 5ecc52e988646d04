# A run directory, the folder of one experiment and an archive say the same.
prony run -q -P exp.command='"sh -c \"echo __results.time__= ${t}0\""' \
    -V t='[1, 2, 3]' -o out >/dev/null
tar czf out.tgz out
prony parse out -o a.json --output-params t,exp.status,results.time >/dev/null
prony parse out.tgz -o b.json --output-params t,exp.status,results.time >/dev/null
prony parse out/experiments/* -o c.json --output-params t,exp.status,results.time >/dev/null
prony parse . --recursive -o d.json --output-params t,exp.status,results.time >/dev/null
cat a.json
for other in b c d; do
    grep -c '"t": ' $other.json
done
prony parse out --query '{"t": 2}' -q | head -1
# A program that ended well has not failed, whatever it told.
prony run -q -P exp.command='"sh -c \"exit ${t}\""' -V t='[0, 1]' -o bare \
    >/dev/null 2>&1 || true
prony parse bare -q | head -1
prony parse bare -q --format json | grep num_
# What a run has not come to has not failed either.
rm out/experiments/0003-*/result.json
prony parse out 2>&1 | head -2
prony parse out -o e.json >/dev/null 2>&1
grep -c '"exp.id"' e.json
# What cannot be read has neither failed, nor is it still to come.
echo '{"id": "x"' >"$(echo out/experiments/0002-*/result.json)"
prony parse out 2>&1 | head -3
prony report out 2>&1 | tail -2
prony report out -q --html page.html >/dev/null
grep -o '3 experiments: [^<]*' page.html
