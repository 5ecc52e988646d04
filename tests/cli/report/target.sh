# tags: valgrind
# That it ran is one thing, that it met its target another: in text, JSON, CSV,
# the page and the exit status.
try() { "$@" >out.txt && echo "status 0" || echo "status $?"; }
say() { # FOLDER LINE…: an experiment that prints these
    dir=$1; shift
    printf '%s\n' "$@" >lines
    prony run -q -o "$dir" -P monitor.frequency=0 \
        -P exp.command='["cat", "'"$PWD"'/lines"]' >out.txt
    grep '^1 experiment' out.txt
}
say none '__results.utilisation__= 0.367'
say met '__results.utilisation__= 0.95' '__results.target_met__= true'
say missed '__results.utilisation__= 0.367' '__results.target_met__= false'
# As runs of older versions have it: 90 % is what metric.au asks for.
say old '__results.utilisation__= 0.367' \
    '__results.dlio.train_au_meet_expectation__= "fail"'
for d in none met missed old; do
    echo "$d"
    try prony report $d
    try prony report $d --strict
    try prony report $d/experiments/* --strict
    prony report $d --format json | grep -o '"target_met": [a-z]*' || :
    prony report $d --format csv | { grep -o 'target_met\|true\|false' || :; } | tr '\n' ' '
    echo
    prony report $d --html $d.html >out.txt
    grep -o '>PASS<\|>TARGET MISSED<' $d.html
done
echo run
try prony run -q -o a --strict exp.workload=emulate storage.engine=null \
    storage.latency=0.1 dataset.format=npy dataset.num_files_train=2 \
    train.computation_time=0.001 monitor.frequency=0
try prony run -q -o b --strict exp.workload=emulate storage.engine=null \
    dataset.format=npy dataset.num_files_train=2 metric.au=0.01 \
    train.computation_time=0.2 monitor.frequency=0 --format json
grep -o '"status": "ok"\|"target_met": true' out.txt | sort -u
try prony run -q -o c --strict exp.workload=emulate storage.engine=null \
    dataset.format=npy dataset.num_files_train=2 monitor.frequency=0
