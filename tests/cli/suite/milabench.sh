# tags: valgrind
# A run of milabench's: its table and score; weights may be others.
mkdir run
event() { echo "{\"event\": \"$1\", \"data\": $2, \"pipe\": null}"; }
rates()
{
    for r in "$@"; do
        event data "{\"task\": \"train\", \"rate\": $r, \"units\": \"items/s\"}"
    done
}
bench()
{
    file=$1
    event config "{\"name\": \"$2\", \"group\": \"$3\", \"weight\": $4,
        \"enabled\": true, \"tag\": [\"$2\"], \"device\": $5}" | tr -d '\n'
    echo
    event meta '{"cpu": {"count": 2, "brand": "Some CPU"}, "accelerators":
        {"gpus": {"0": {"product": "Some GPU", "memory": {"total": 16.0}}}}}' |
        tr -d '\n'
    echo
    event start '{"time": 100.0}'
    shift 5
    rates "$@"
    event data '{"task": "main", "time": 101.0, "gpudata": {"0": {"memory":
        [8.0, 16.0], "load": 0.5, "power": 50.0}}}' | tr -d '\n'
    echo
    event end '{"time": 110.0, "return_code": 0}'
}
bench a zebra flops 2 0 10 20 30 > run/zebra.D0.data
bench a zebra flops 2 1 40 > run/zebra.D1.data
bench b ant flops 0 0 7 7 7 7 7 > run/ant.D0.data
bench c lost alone 1 0 > run/lost.D0.data
bench d half alone 1 0 5 | sed '$d' > run/half.D0.data
prony report run --compare-gpus
prony report run -q --weights '{"ant": {"weight": 1}}' | tail -3
prony summary run -q > base.json
prony report run -q --compare base.json --price 100
