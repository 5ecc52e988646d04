# -P adds what follows from other parameters; tables and zip archives are read.
printf '__exp.model__="a"\n__n__=2\n__results.time__=5\n' >1.log
printf '__exp.model__="b"\n__results.time__=6\n' >2.log
prony parse 1.log 2.log -P '{"t": "${exp.model}-${n}", "k": 1}' -o out.json
cat out.json
echo
printf 'exp.model,results.time\nc,7\n' >t.csv
prony parse t.csv 1.log --query '{"results.time": [5, 7]}' -o out.json >/dev/null
cat out.json
echo
gzip t.csv
prony parse t.csv.gz
prony parse 1.log -P 'n=2' || echo "status $?"
