# Each names the parameter, says what is possible, and leaves nothing behind.
try() { prony generate "$@" && exit 99; echo "status $?" >&2; }
try dataset.format=nzp
try dataset.format=npz dataset.record_dims='[3, 0]'
try dataset.format=npz dataset.record_dims='[3, x]'
try dataset.format=npz dataset.record_dims='[3, 4]' dataset.record_length_bytes_stdev=5
try dataset.format=npz dataset.record_element_type=complex64
try dataset.format=tfrecord dataset.compression=lzf
try dataset.format=npy dataset.compression=gzip
try dataset.format=npz dataset.compression=bzip2
try dataset.format=npz dataset.num_samples_per_file=0
try dataset.format=npz dataset.num_files_trian=1
try dataset.format=npz dataset.file_prefix=a/b
try storage.engine=memory
try storage.engine=null --verify
try storage.engine=carrier_pigeon
try storage.fault=eio
try --resume --force
try --threads 0
try --threads many
try --format yaml
ls
