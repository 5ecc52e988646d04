# Limits of the system are errors that name the file and the remedy, not the end
# of prony; a program under test meets them as it would alone.
values=$(seq -s , 2000)
small="prlimit --fsize=65536"
$small prony generate dataset.data_folder=data dataset.format=npy \
    dataset.num_files_train=1 dataset.record_length_bytes=400000 ||
    echo "status $?" >&2
$small prony run -q -o plan -P exp.command=true -V "i=[$values]" ||
    echo "status $?" >&2
$small prony run -q -o child --format json \
    -P exp.command='["head", "-c", "100000", "/dev/zero"]' >child.json || true
python3 -c 'import json; print(json.load(open("child.json"))["experiments"][0]["reason"])'
prlimit --nofile=9 prony generate dataset.data_folder=more dataset.format=npy \
    --threads 8 dataset.num_files_train=64 >/dev/null || echo "status $?" >&2
