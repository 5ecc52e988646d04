# What cannot be run is told with its remedy, most of it before anything is made.
try()
{
    echo "-- $*"
    prony run -q -o "out$((n = n + 1))" default "$@" || echo "status $?"
}
n=0
try # there is no data
try ++workload.workflow.generate_data=True ++workload.reader.batch_size=100
try ++workload.storage.storage_type=s3
try ++workload.workflow.train=False
try ++workload.workflow.train=False ++workload.workflow.checkpoint=True
try ++workload.train.computation_time.type=uniform
try ++workload.train.computation_time.type=weibull
try ++workload.reader.reader_classname=my.Reader
try ++workload.reader.on_error=shrug
try exp.accelerators=0
