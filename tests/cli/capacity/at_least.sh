# tags: valgrind
# Everything up to --max is busy enough: the answer is a lower bound.
prony capacity exp.workload=emulate storage.engine=null dataset.format=npy \
    dataset.record_length_bytes=1000 train.computation_time=0.01 \
    --au 0.01 --max 2 --steps 2 -o out
