# Images of a stated file size are images to others, too: PIL decodes each, and
# every size is within 2 % of what was asked for.
/usr/bin/python3 -c 'import PIL.Image' 2> /dev/null ||
    { echo "no Pillow; install python3-pil"; exit 77; }
for format in jpeg png; do
    for length in 5000 100000 322957; do
        prony generate -q dataset.format=$format dataset.payload=file \
            dataset.num_files_train=3 dataset.record_length_bytes=$length \
            dataset.data_folder=$format-$length > /dev/null
    done
done
/usr/bin/python3 - <<'END'
import glob, os
from PIL import Image
for folder in sorted(glob.glob("*-*")):
    length = int(folder.split("-")[1])
    good = 0
    for path in glob.glob(folder + "/train/*"):
        with Image.open(path) as image:
            image.load()
            good += (image.format.lower() == folder.split("-")[0]
                     and min(image.size) > 1
                     and abs(os.path.getsize(path) - length) <= 0.02 * length)
    print(folder, good, "good")
END
