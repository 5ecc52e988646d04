# Found when planning, not after the data was made.
try()
{
    echo "-- $*"
    prony plan default "$@" > /dev/null || echo "status $?"
}
try ++workload.train.computation_time.type=weibull
try ++workload.reader.data_loader=custom
try ++workload.reader.data_loader_classname=my.Loader
try ++workload.reader.read_threads=-1
try ++workload.train.epochs=many
try ++workload.dataset.format=parquet
try ++workload.reader.file_access=alone
