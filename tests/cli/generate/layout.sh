# DLIO's overrides work as they stand; indexes, labels, subfolders.
prony generate -q ++workload.dataset.format=tfrecord \
    ++workload.dataset.num_files_train=12 \
    ++workload.dataset.num_subfolders_train=3 \
    ++workload.dataset.num_files_eval=1 \
    ++workload.dataset.data_folder=set \
    ++workload.dataset.record_length_bytes=100 \
    dataset.labels=separate dataset.num_samples_per_file=2 > said
find set -type f | sort
cat set/index/train/img_00_of_12.tfrecord.idx
wc -c < set/train/0/img_00_of_12.tfrecord
wc -c < set/labels/train/0/img_00_of_12.tfrecord.npy
