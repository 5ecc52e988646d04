prony generate dataset.format=npy dataset.record_dims='[3, 4]' \
    dataset.num_samples_per_file=5 dataset.num_files_train=4 --threads 2 \
    --verify --format json |
    python3 -c 'import json, sys
d = json.load(sys.stdin)
one = d["datasets"][0]
assert one.pop("seconds") >= 0 and one.pop("verify_seconds") >= 0
print(d["schema"], json.dumps(one, sort_keys=True, indent=1))'
