# Keys of a map on the command line are laid over what the file has; a number
# gives way to a map.
cat > w.yaml <<'Y'
dataset: {format: npz}
train: {computation_time: 1.0}
Y
prony plan w.yaml ++workload.train.computation_time.type=uniform \
    ++workload.train.computation_time.min=0.1 \
    ++workload.train.computation_time.max=0.3 --explain train.computation_time
prony plan w.yaml -P 'train.computation_time={"type": "normal", "mean": 1}' \
    -V train.computation_time.mean='[1, 2]' \
    -V train.computation_time.stdev='[0.1, 0.2]' | grep -v experiments
prony plan w.yaml -V 'train.computation_time=[1, {"mean": 2}]' |
    grep -v experiments
