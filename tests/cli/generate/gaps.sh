# What a look at contents alone would miss: index files, labels, bytes after
# the end, files that are gone; and a set is not lost for one that has no room.
set="dataset.format=tfrecord dataset.record_length_bytes=900 dataset.num_files_train=4 --threads 1"
prony generate -q $set > said
sed -i 's/ 9/ 8/' data/index/train/img_0_of_4.tfrecord.idx
printf x >> data/train/img_1_of_4.tfrecord
prony generate $set --verify > said || echo "status $?"
prony generate -q $set --resume > said
rm data/train/img_2_of_4.tfrecord
prony generate $set || echo "status $?"
prony generate -q $set --resume > said
rm data/index/train/img_0_of_4.tfrecord.idx
prony generate -q $set --resume --verify > said && echo "whole again"
prony generate $set --force dataset.num_files_train=1000000000000 2> said ||
    echo "status $?"
grep -o 'are missing' said
prony generate -q $set --verify > said && echo "still there"

# More folders than files are never made.
prony generate -q dataset.format=npy dataset.num_files_train=2 \
    dataset.num_subfolders_train=1000000000 dataset.data_folder=wide > said
find wide/train -type d | sort

# Labels inside must be there.
labels="dataset.format=npz dataset.num_classes=5 dataset.data_folder=labels --threads 1"
prony generate -q $labels dataset.num_files_train=1 > said
mkdir other
prony generate -q dataset.format=npz dataset.labels=none dataset.num_files_train=1 \
    dataset.data_folder=other > said
cp other/train/img_0_of_1.npz labels/train/
prony generate $labels dataset.num_files_train=1 --verify > said || echo "status $?"
