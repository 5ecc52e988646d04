# The same for programs: one more key, where there are checkpoints.
prony plan llama3_405b mlperf.host_memory=64GiB --format json | sed -n '/"checkpoints"/,$p' |
    sed 's/"id": "[^"]*"/"id": "…"/'
prony plan default -V workflow.checkpoint='[true, false, true]' --format json |
    sed 's/"id": "\([0-9]*\)-[^"]*".*/"id": "\1"/;1d'
prony plan default --format json | grep -c '"checkpoints"' || echo "no such key"
prony plan llama3_8b exp.accelerators=4 model.parallelism.tensor=3 --format json || echo "status $?"
