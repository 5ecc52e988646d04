# What cannot be run is told with its remedy, most of it before anything is made.
cat > w.yaml <<'Y'
model:
  type: transformer
  num_layers: 2
  transformer: {vocab_size: 1000, hidden_size: 64, ffn_hidden_size: 128,
                num_attention_heads: 8, num_kv_heads: 2}
framework: pytorch
workflow: {generate_data: False, train: False, checkpoint: True}
checkpoint: {checkpoint_folder: ck, num_checkpoints_write: 1,
             num_checkpoints_read: 1}
Y
try()
{
    echo "-- $*"
    prony run -q -o "out$((n = n + 1))" w.yaml "$@" || echo "status $?"
}
n=0
try checkpoint.num_checkpoints_write=0
try checkpoint.num_checkpoints_write=0 checkpoint.num_checkpoints_read=0
try model.parallelism.tensor=2 model.parallelism.data=2 exp.accelerators=3
try model.parallelism.tensor=2 exp.accelerators=3
try model.parallelism.pipeline=5
try model.parallelism.zero_stage=4
try model.model_datatype=fp8
try model.layer_parameters='[-3]'
try model.optimization_groups='[1.5]'
try ++workload.checkpoint.checkpoint_mechanism_classname=my.Class
try ++workload.checkpoint.ksm={}
try checkpoint.first_rank=7
try checkpoint.first_rank=7 checkpoint.mode=subset
try checkpoint.num_checkpoints_write=1000000000
: > file
try checkpoint.checkpoint_folder=file
# Written by a model of one more layer.
prony run -q -o more w.yaml model.num_layers=3 checkpoint.num_checkpoints_read=0 > log
try checkpoint.num_checkpoints_write=0
# By another seed.
try checkpoint.num_checkpoints_write=0 model.num_layers=3 checkpoint.seed=1 checkpoint.verify=true
# By fewer ranks.
try checkpoint.num_checkpoints_write=0 model.parallelism.data=2 model.parallelism.zero_stage=1 checkpoint.writers=1
ls -A
