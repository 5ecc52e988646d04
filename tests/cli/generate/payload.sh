# What the length of a record means for an image: its pixels, its file, or
# bytes that are no image.
set="dataset.num_files_train=2 dataset.record_length_bytes=100000"
for format in jpeg png; do
    for payload in pixels file raw; do
        prony generate $set dataset.format=$format dataset.payload=$payload \
            dataset.data_folder=$format-$payload --verify > said
        # Without the marker's word for it, too.
        prony generate $set dataset.format=$format dataset.payload=$payload \
            dataset.data_folder=$format-$payload --resume --verify > said
    done
done
wc -c *-file/train/* *-raw/train/* | grep -v total
# Of a set that is there, the payload is a part of what it is.
try() { prony "$@" && exit 99; echo "status $?" >&2; }
try generate $set dataset.format=jpeg dataset.data_folder=jpeg-raw
prony generate $set dataset.format=jpeg dataset.data_folder=jpeg-raw --force \
    --verify > said
wc -c < jpeg-raw/train/img_0_of_2.jpeg | awk '{ print $1 < 60000 }'
# Damage of what is skipped when it is decoded is damage.
printf 'X' | dd of=jpeg-file/train/img_1_of_2.jpeg bs=1 seek=100 \
    conv=notrunc 2> /dev/null
try generate $set dataset.format=jpeg dataset.payload=file \
    dataset.data_folder=jpeg-file --resume --verify > said
# Impossible ones.
try generate dataset.format=npz dataset.payload=raw
try generate dataset.format=jpeg dataset.payload=file \
    dataset.record_length_bytes=300
try generate dataset.format=jpeg dataset.payload=best
