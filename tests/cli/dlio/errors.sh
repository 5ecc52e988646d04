ln -s "$(readlink -f "$(command -v prony)")" dlio_benchmark
mkdir -p conf/workload
printf 'dataset: {num_files_train: 8}\ntrain: {epochs: 2}\n' > conf/workload/job_a.yaml
printf 'dataset: {num_files_train: 8}\n  bad' > conf/workload/job_b.yaml
try() { ./dlio_benchmark -cd conf "$@" && exit 99; echo "status $?" >&2; }
try workload=no_such_job
try workload=job_b
try workload=job_a workload.train.epoch=1
try workload=job_a +workload.train.epochs=1
try workload=job_a train.epochs=1
try workload=job_a '~workload.train.epoch'
try workload=job_a '~workload.train.epochs=3'
try workload=job_a workload.train.epochs=1,2
try workload=job_a epochs
try workload=job_a --multirun
try workload=job_a --cfg nothing
try +workload=job_a
./dlio_benchmark -cd nowhere workload=job_a || echo "status $?" >&2
./dlio_benchmark -cd conf workload=job_a '++workload.x=${oc.env:NO_SUCH}' || echo "status $?" >&2
DLIO_LOG_LEVEL=loud ./dlio_benchmark -cd conf workload=job_a || echo "status $?" >&2
./dlio_benchmark -cd conf workload=job_a ++train.epochs=1 hydra.verbose=true --cfg job
ls
