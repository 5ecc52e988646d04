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
# Other launchers: PALS and Slurm on one machine, Slurm on two, one that does
# not say how many there are.
unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_SIZE
try()
{
    echo "-- ${*%%./*}"
    env "$@" || echo "status $?"
}
go="./dlio_benchmark workload=default hydra.run.dir=more ++workload.train.epochs=1 ++workload.train.computation_time=0.001 ++workload.workflow.evaluation=False"
try PMI_SIZE=2 PMI_RANK=0 PMI_LOCAL_SIZE=2 PALS_RANKID=0 PALS_NODEID=0 $go 2> log
grep -o 'with 2 process(es)' log
try PMI_SIZE=2 PMI_RANK=1 PMI_LOCAL_SIZE=2 PALS_RANKID=1 PALS_NODEID=0 $go
try SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=1 SLURM_PROCID=0 $go 2> log
grep -o 'with 4 process(es)' log
try SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=1 SLURM_PROCID=3 PMIX_RANK=3 $go
try SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2 SLURM_PROCID=0 $go
try SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=2 SLURM_PROCID=1 $go
try PMIX_RANK=1 $go
try PALS_RANKID=0 PALS_LOCAL_SIZE=2 $go
