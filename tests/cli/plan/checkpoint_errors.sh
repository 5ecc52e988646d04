# What cannot be a checkpoint is found when planning, with the key to change.
try()
{
    echo "-- $*"
    prony plan "$@" > /dev/null || echo "status $?"
}
try llama3_8b model.parallelism.pipeline=2
try llama_7b model.parallelism.pipeline=40
try llama_7b model.parallelism.data=-1 model.parallelism.tensor=3 \
    exp.accelerators=8
try llama3_8b checkpoint.mode=subset exp.accelerators=16
try llama3_8b checkpoint.mode=subset model.parallelism.data=-1
try llama3_8b checkpoint.mode=subset checkpoint.first_rank=7 exp.accelerators=2
try llama3_8b checkpoint.first_rank=1
try llama3_8b checkpoint.num_checkpoints_write=3
try llama3_8b ++workload.checkpoint.ksm={}
try llama3_8b ++workload.checkpoint.ksm.await_time=100
try llama3_8b ++workload.checkpoint.checkpoint_mechanism_classname=my.Class
try llama3_8b model.model_datatype=fp8
try llama3_8b 'model.layer_parameters=[1, -1]'
try llama3_8b 'model.optimization_groups=[large]'
try llama3_8b model.transformer.hidden_size=10000000 model.num_layers=100000
