# Storage that is ten times slower than computing.
cat > t.yaml <<'X'
dataset: {data_folder: data, format: npz, num_files_train: 32,
          record_length_bytes: 65536}
reader: {data_loader: pytorch, batch_size: 4, read_threads: 2}
workflow: {generate_data: True, train: True}
train: {computation_time: 0.005}
X
prony -q probe t.yaml --batches 6 --trials 2 --warmup 1 -o out \
    storage.throttle=4M
echo
prony report out/experiments/*
grep -c '^BENCHY::SUMMARY' out/experiments/*/log.txt
grep -o '"nranks": 1, "IO"' out/experiments/*/benchy_result.json
grep -c '(FULL)' out/probe.svg
