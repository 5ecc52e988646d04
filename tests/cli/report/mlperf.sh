# What MLPerf's rules say of a run: by 'run' and 'report', as text, JSON and
# Markdown; a rule that is not kept does not fail the run.
small="dataset.record_length_bytes=100 dataset.num_files_train=1"
prony generate resnet50_h100 $small > /dev/null
small="$small train.epochs=1 mlperf.host_memory=1GiB"
prony run resnet50_h100 $small mlperf.division=closed -o one |
    sed -n '/MLPerf/,$p' | sed '/page cache/d; s/is [0-9.]* %/is N %/'
prony report one --format md | grep -c '| 10.1 | fail |'
prony report one --format json | grep -c '"verdict": "invalid"'
prony report one/experiments/0001* | grep -c 'is INVALID'
prony report one/experiments/0001* --format json | grep -c '"verdict": "invalid"'

# Six runs with seeds of their own belong together.
prony run resnet50_h100 $small -V train.seed='[1, 2, 3, 4, 5, 6]' \
    mlperf.division=closed -o six > /dev/null
prony report six | sed -n '/together/,/^$/p' |
    sed 's/is [0-9.]* \(samples\)/is N \1/; s/is [0-9.]* %/is N %/; s/6.7    [a-z]*/6.7    word/'
prony run resnet50_h100 $small --repeat 2 --format json \
    mlperf.division=open -o two | tail -1 | grep -o '"runs".*'

# Nothing is said where nobody asked.
prony run resnet50_h100 $small -o none > none.txt
grep -c MLPerf none.txt || true
prony report none --format json | grep -c mlperf.: || true
