# Checkpoints alone: written, read back and compared; what was found is told.
cat > w.yaml <<'Y'
model:
  name: small
  type: transformer
  num_layers: 2
  parallelism: {tensor: 1, pipeline: 1, data: 2, zero_stage: 3}
  transformer: {vocab_size: 1000, hidden_size: 64, ffn_hidden_size: 128,
                num_attention_heads: 8, num_kv_heads: 2}
framework: pytorch
workflow: {generate_data: False, train: False, checkpoint: True}
checkpoint: {checkpoint_folder: ck, num_checkpoints_write: 2,
             num_checkpoints_read: 2, fsync: True}
Y
prony run w.yaml -o out checkpoint.verify=true
echo
cat out/experiments/0001-*/dlio.log
echo
# The same again over the old ones, one of them kept.
prony run -q w.yaml -o again checkpoint.keep=1 checkpoint.num_checkpoints_read=0
ls -A ck
