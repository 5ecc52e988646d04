# Formats that need a library, which this build may not have.
for format in jpeg png hdf5; do
    prony generate -q dataset.format=$format dataset.num_files_train=0 \
        storage.engine=null > said || { echo "no $format; install what prony doctor names"; exit 77; }
done
try() { prony generate "$@" && exit 99; echo "status $?" >&2; }
try dataset.format=jpeg dataset.record_dims='[2, 3, 4, 5]'
try dataset.format=jpeg dataset.record_dims='[10, 10, 4]'
try dataset.format=jpeg dataset.num_samples_per_file=2
try dataset.format=png dataset.record_dims='[7]'
try dataset.format=hdf5 dataset.record_dims='[4, 5]' dataset.hdf5.num_dset_per_record=3
