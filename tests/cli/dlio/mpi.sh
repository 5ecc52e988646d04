# Of the processes that mpirun starts on one machine the first emulates all
# accelerators, and the others have nothing to do; several machines come later.
ln -s "$(readlink -f "$(command -v prony)")" dlio_benchmark
export OMPI_COMM_WORLD_SIZE=4
OMPI_COMM_WORLD_RANK=0 ./dlio_benchmark || echo "status $?"
OMPI_COMM_WORLD_RANK=1 ./dlio_benchmark || echo "status $?"
ls
export OMPI_COMM_WORLD_LOCAL_SIZE=4
set -- workload=default hydra.run.dir=out ++workload.workflow.generate_data=True \
    ++workload.train.epochs=1 ++workload.train.computation_time=0.001 \
    ++workload.workflow.evaluation=False
OMPI_COMM_WORLD_RANK=1 ./dlio_benchmark "$@" && ls
OMPI_COMM_WORLD_RANK=0 ./dlio_benchmark "$@" 2> log
grep -o 'with 4 process(es)' log
grep '"num_accelerators"' out/summary.json
