# What is there is never replaced without being told to.
try() { prony generate "$@" && exit 99; echo "status $?" >&2; }
set=" dataset.format=npy dataset.record_dims=[10] dataset.num_files_train=2"
prony generate $set > said
try $set dataset.seed=7
try $set dataset.record_element_type=int8
try dataset.format=npz
rm data/train/img_1_of_2.npy
prony generate $set --resume
prony generate $set dataset.num_files_train=1 --force
find data -type f | sort
mkdir -p foreign/train
echo mine > foreign/train/img_0_of_2.npy
try $set dataset.data_folder=foreign
cat foreign/train/img_0_of_2.npy
