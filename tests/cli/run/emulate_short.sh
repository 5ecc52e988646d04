# An epoch of eight steps, all read ahead while the first waits: DLIO's figures
# leave that reading out, so they are not the main ones, and a warning says why.
prony run -q -o out exp.workload=emulate storage.engine=null \
    storage.latency=0.2 dataset.format=npy dataset.num_files_train=8 \
    dataset.record_length_bytes=1000000 reader.batch_size=1 \
    reader.data_loader=pytorch reader.read_threads=8 \
    train.computation_time=0.05 emulate.compat=dlio |
    grep -o 'epochs are short .*'
tr ',' '\n' < "$(ls out/experiments/*/result.json)" |
    sed -n 's/^ *"\(dlio.train_au_meet_expectation\|target_met\)"/\1/p'
