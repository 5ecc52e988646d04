# A file that a power cut emptied or cut off is not taken for whole, whether its
# size can be foretold or not.
for format in npy jpeg; do
    make="prony generate dataset.data_folder=$format dataset.format=$format
        dataset.num_files_train=5 dataset.record_length_bytes=4096"
    $make >/dev/null
    : > $format/train/img_3_of_5.$format
    $make >/dev/null 2>err || { echo "status $?"; cat err; }
    $make --resume --verify | sed 's/ in .*//'
done
: > npy/train/img_0_of_5.npy
head -c 1000 /dev/zero > npy/train/img_4_of_5.npy
prony generate dataset.data_folder=npy dataset.format=npy run.fsync=false \
    dataset.num_files_train=3 dataset.record_length_bytes=4096 2>err || cat err
