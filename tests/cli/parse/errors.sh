try() {
    prony parse "$@" && echo "no error: $*" || echo "status $?"
}
echo '__a__=1' >a.log
try
try nowhere
try a.log -o out.txt
try a.log --report other
try a.log --query '{"a": '
try a.log --query '{"a": "("}'
try a.log -o out.json --no-overwrite
try a.log -o out.json --no-overwrite
try a.log -o out.json --benchmarks-per-file 1 --num-output-files 1
mkdir -p top/below
mv a.log top/below
try top
# Damaged, and nothing else there.
mkdir many
printf '{"call": {' > many/s.a.J0.0.20261118-000000-000000.json
echo text > many/s.b.J0.0.20261118-000000-000000.json
try many
try many -o many.out.json
ls many.out.json 2>/dev/null || echo "not written"
try many --ignore-errors
printf '{"a": ' > one.json
try one.json
printf '__a__=1\n' > good.log
try one.json good.log
