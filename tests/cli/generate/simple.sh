# tags: valgrind
prony generate dataset.format=npz dataset.num_files_train=3 \
    dataset.num_files_eval=1 dataset.record_length_bytes=4096 --threads 2
find data -type f | sort
# A second time there is nothing to do.
prony generate dataset.format=npz dataset.num_files_train=3 \
    dataset.num_files_eval=1 dataset.record_length_bytes=4096 --verify
