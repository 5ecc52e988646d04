# {"data": […]}, plain and gzipped; what goes in, and into which files.
printf '__b__=[1, {"c": "é"}]\n__a__= 1.50\n__results.throughput__=3\n' >1.log
printf '__a__=2\n__results.throughput__=0\n' >2.log
printf '__b__=null\n__a__=NaN\n__results.throughput__=5\n' >3.log
prony parse 1.log 2.log 3.log --output_file all.json
cat all.json
echo
prony parse 1.log 2.log 3.log -o all.json.gz >/dev/null
gzip -dc all.json.gz | cmp - all.json
prony parse all.json.gz --output some.json --output-params a,b \
    --failed-benchmarks keep_separately
cat some.json some_failed.json
echo
prony parse all.json -o part.json --benchmarks-per-file 2 >/dev/null
prony parse all.json -o share.json --num-output-files 3 --filter-params b >/dev/null
ls
