# The null engine: how fast data is made, without a disk.
prony generate storage.engine=null dataset.format=npz dataset.num_files_train=2
ls -A
# A root that cannot be made.
: > file
prony generate dataset.format=npy -d file/below || echo "status $?"
# The root by option, by environment; an absolute folder needs none.
prony generate -q -d root dataset.format=npy dataset.num_files_train=1 > said
PRONY_DATA=other prony generate -q dataset.format=npy dataset.num_files_train=1 > said
prony generate -q -d root dataset.data_folder="$TMP/abs" dataset.format=npy dataset.num_files_train=1 > said
find . -name '*.npy' | sort
