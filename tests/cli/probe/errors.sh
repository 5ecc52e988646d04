# tags: valgrind
prony probe || echo "exit $?"
prony probe -P exp.command='"true"' || echo "exit $?"
printf 'IO:\n  nbatches: 0\n' > bad.yaml
prony probe -P exp.framework=native --probe-config bad.yaml || echo "exit $?"
prony probe -P exp.framework=native --probe-config nowhere.yaml ||
    echo "exit $?"
prony probe -P exp.framework=native -P exp.model=lenet || echo "exit $?"
prony probe -P exp.workload=emulate -P workflow.train=false || echo "exit $?"
prony probe -P exp.framework=native --batches 0 || echo "exit $?"
prony probe -P exp.workload=emulate -P probe.phases='["disk"]' || echo "exit $?"
printf 'global:\n  output_filename: out/log.txt\n' > own.yaml
prony probe -P exp.workload=emulate --probe-config own.yaml || echo "exit $?"
printf 'IO:\n  nbatch: 3\nDISK: {}\n' > odd.yaml
prony probe -P exp.workload=emulate --probe-config odd.yaml --dry-run \
    >/dev/null || echo "exit $?"
