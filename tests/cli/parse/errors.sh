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
