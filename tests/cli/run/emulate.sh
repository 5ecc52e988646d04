# A DLIO workload, made small: data is made, read, and what was found is told.
cat > w.yaml <<'Y'
model: {name: small}
framework: pytorch
workflow: {generate_data: True, train: True, evaluation: True}
dataset: {data_folder: data, format: npz, num_files_train: 16,
          num_files_eval: 4, record_length_bytes: 4096}
reader: {data_loader: pytorch, batch_size: 2, read_threads: 2}
train: {epochs: 2, computation_time: 0.002}
evaluation: {eval_time: 0.001}
Y
prony run w.yaml -o out exp.accelerators=2 emulate.trace=true \
    emulate.tensorboard=true ++workload.output.folder=second
cd out/experiments/0001-*
cat dlio.log
grep __results.samples_per_second log.txt
