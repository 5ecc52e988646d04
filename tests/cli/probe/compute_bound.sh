# Computing that takes much longer than reading, with a config of benchy's whose
# sections name a few keys.
cat > t.yaml <<'X'
dataset: {data_folder: data, format: npz, num_files_train: 32,
          record_length_bytes: 4096}
reader: {data_loader: pytorch, batch_size: 4, read_threads: 2}
workflow: {generate_data: True, train: True}
train: {computation_time: 0.06}
X
cat > benchy.yaml <<'X'
IO: {nbatches: 5, ntrials: 2}
synthetic:
        nbatches: 4   # as job scripts write it
        ntrials: 1
        nwarmup: 0
full: {nbatches: 4, nwarmup: 0, ntrials: 2, nbatch: 7}
global: {output_filename: job-7.json, report_freq: 2}
X
BENCHY_CONFIG_FILE=benchy.yaml prony -q probe t.yaml -o out --format json |
    tr -d ' ' | grep -o '"bound":"[a-z ]*"'
cat out/experiments/*/job-7.json | tr -d ' ' | tr '{' '\n' | grep -o '^"rates.*' |
    sed 's/[0-9][0-9.e+]*/N/g' | cut -c1-70
grep -c 'FULL_._*.*::Iteration' out/experiments/*/log.txt
