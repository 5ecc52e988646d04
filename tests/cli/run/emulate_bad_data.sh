# A sample that cannot be read stops the run, or is counted and skipped.
prony generate -q dataset.format=npz dataset.num_files_train=8 \
    dataset.data_folder=data dataset.record_length_bytes=4096 > /dev/null
printf 'not a zip file' > data/train/img_3_of_8.npz
train()
{
    prony run -q -o "$@" exp.workload=emulate dataset.format=npz \
        dataset.num_files_train=8 dataset.data_folder=data \
        dataset.record_length_bytes=4096 reader.data_loader=pytorch
}
train stop || echo "status $?"
train skip reader.on_error=skip train.epochs=2
grep -h '"status"\|"reason"\|"warnings"' skip/experiments/*/result.json
grep -h 'skipped_samples__\|results.steps__' skip/experiments/*/log.txt
