# Tasks of one job would each do all of the work into the same files: what a
# launcher says of several is an error in each of them, and nothing is written.
try()
{
    echo "-- $*"
    env "$@" > said || echo "status $?"
    ls
}
run="prony run -q null -o out"
try SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 SLURM_NTASKS=2 $run
try OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=4 $run
try PMI_SIZE=3 PMI_RANK=2 PMI_LOCAL_SIZE=3 $run
try PMIX_RANK=1 PMIX_NAMESPACE=x $run
try PALS_RANKID=5 $run
try PALS_RANKID=0 PALS_LOCAL_SIZE=2 $run
try FLUX_JOB_SIZE=2 FLUX_TASK_RANK=0 $run
for verb in generate probe capacity demo "rerun x"; do
    try SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 prony $verb
done
# One task is one process; in a batch script SLURM_NTASKS counts what srun would
# start; mpirun's daemons are tasks of srun.
try SLURM_NTASKS=8 SLURM_JOB_ID=1 $run
rm -r out
try SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0 PMIX_RANK=0 $run
rm -r out
try OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0 \
    SLURM_STEP_NUM_TASKS=2 $run
rm -r out
try PALS_RANKID=0 PALS_LOCAL_SIZE=1 PALS_NODEID=0 $run
# What only reads works in each of them.
try SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 prony report out
