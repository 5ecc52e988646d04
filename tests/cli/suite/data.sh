# Images are read, and made, below -d, however it is written.
prony doctor | grep -q "^formats.*jpeg" || { echo "no format jpeg; install libturbojpeg0-dev"; exit 77; }
export PRONY_NVML=
cat > l.json <<'END'
{"l": {"experiment": "milarun.models.loader:main",
       "arguments": {"--max-count": 8, "--batch-size": 4},
       "parameters": {"dataset.num_files_train": 4,
                      "dataset.record_dims": [64, 64, 3]}}}
END
prony run -q l.json -d data -o out >/dev/null || cat out/experiments/*/log.txt
find data -type d | sort
prony run -q l.json -d "$PWD/data" -o again >/dev/null
find . -name train | sort
# milarun makes them where its test looks.
ln -s "$(command -v prony)" milarun
mkdir root
touch root/prony-images
./milarun dataset milarun.datasets:fake_imagenet -d root || echo "status $?"
mkdir -p there/ImageNet/train
./milarun dataset milarun.datasets:fake_imagenet -d there
ls . there
# Without -d they are made in the run directory.
prony run -q l.json -o own >/dev/null
find own/data -type d | sort
