# Data alone: DLIO's log and hydra's files are there, which MLPerf's tool looks
# for after it had data made; there are no results.
ln -s "$(readlink -f "$(command -v prony)")" dlio_benchmark
./dlio_benchmark workload=default ++hydra.run.dir=res \
    ++hydra.output_subdir=dlio_config ++workload.workflow.generate_data=True \
    ++workload.workflow.train=False ++workload.workflow.evaluation=False \
    ++exp.accelerators=2 2> said
ls res res/dlio_config
sed 's/20[^ ]*/TIME/' res/dlio.log
# Made before: nothing to write, and a log all the same.
./dlio_benchmark workload=default ++hydra.run.dir=again \
    ++workload.workflow.generate_data=True ++workload.workflow.train=False \
    ++workload.workflow.evaluation=False 2> said
ls again
