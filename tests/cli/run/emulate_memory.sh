# tags: valgrind
# Without any storage: samples live in the process (no tool around the program
# that does not know the kernel's latest calls is in the way).
prony run -q -o out exp.workload=emulate workflow.generate_data=true \
    workflow.evaluation=true storage.engine=memory dataset.format=npz \
    dataset.num_files_train=16 dataset.num_files_eval=4 \
    dataset.record_length_bytes=4096 reader.data_loader=pytorch \
    reader.batch_size=2 reader.sample_shuffle=seed exp.accelerators=2 \
    reader.hold=true train.epochs=2 train.computation_time=0.002 \
    emulate.trace=true emulate.tensorboard=true monitor.frequency=0 > /dev/null
grep -h 'results.steps__\|results.samples__\|bytes_delivered__' \
    out/experiments/*/log.txt
ls out/experiments/0001-* | grep -c json
