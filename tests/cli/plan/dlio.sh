# A DLIO workload becomes a plan: sections keep their names, framework and
# data_reader have others, hydra's tree is looked into, what is unknown is
# warned of.
cat > w.yaml <<'E'
model: {name: unet3d, type: cnn}
framework: pytorch
workflow: {generate_data: True}
dataset:
  format: npz
  num_files_train: 168
  record_length_bytes: 146600628
  record_lenght_bytes_stdev: 68341808
  compression: null
reader: {batch_size: 99}
data_reader: {batch_size: 7, file_shuffle: seed}
E
prony plan w.yaml ++workload.dataset.num_files_eval=8 --format json |
    sed -n 2p | tr ',' '\n' | grep -E 'dataset|reader|emulate|model|workflow'
prony plan w.yaml --explain dataset.num_files_train
printf 'workload:\n  dataset: {format: csv}\n' > tree.yaml
prony plan tree.yaml --format json | sed -n 2p | grep -o '"dataset[^,}]*'
prony plan w.yaml ++workload.workflow.train=false ++workload.workflow.generate_data=false ++workload.workflow.checkpoint=true || echo "status $?"
