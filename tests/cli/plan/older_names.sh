# A config in the names of DLIO's first documentation; they hold in every form
# of setting. Its total_training_steps is of the whole run.
cat > old.yaml <<'Y'
model: unet3d
framework: pytorch
dataset:
  record_length: 4096
  num_files_train: 8
  num_files_val: 2
  data_dir: data/x
  batch_size: 4
data_loader:
  prefetch: False
  read_shuffle: True
  file_shuffle: off
train:
  n_epochs: 3
  total_training_steps: 5
  do_eval: True
checkpoint:
  do_checkpoint: False
  checkpoing_after_epoch: 2
Y
PRONY_TRAIN_EVAL_TIME=0.5 prony plan old.yaml -P dataset.record_length=8192 \
    ++workload.data_loader.read_threads=2 --format json |
    sed -n 2p | tr ',' '\n' |
    grep -E 'dataset|reader|train|workflow|model|evaluation|checkpoint|emulate'
prony plan old.yaml -V train.n_epochs='[1, 2]' | grep -v experiments
prony plan old.yaml --explain train.total_training_steps_of
prony plan old.yaml -P dataset.record_length=8192 --explain dataset.record_length
