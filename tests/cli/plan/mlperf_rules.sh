# The rules that can be checked before the run.
rules()
{
    echo "-- $*"
    prony plan "$@" | sed -n '/ is INVALID\| fits /,$p'
}
rules unet3d_a100 exp.accelerators=16 mlperf.hosts=2 mlperf.host_memory=128GiB \
    dataset.num_files_train=56000 reader.odirect=true mlperf.division=closed
rules resnet50_v100 mlperf.host_memory=1GiB mlperf.division=closed
rules cosmoflow_h100 exp.accelerators=7 mlperf.hosts=2 mlperf.host_memory=1GiB \
    mlperf.division=open dataset.format=npz
rules cosmoflow_h100 exp.accelerators=7 mlperf.host_memory=1GiB \
    mlperf.division=closed train.epochs=1 reader.odirect=true \
    workflow.checkpoint=true
rules llama3_70b mlperf.host_memory=1GiB mlperf.division=closed
rules llama3_70b mlperf.host_memory=1GiB mlperf.division=closed \
    exp.accelerators=8 checkpoint.mode=subset checkpoint.num_checkpoints_read=0
rules llama3_70b mlperf.host_memory=1GiB mlperf.division=open \
    model.parallelism.data=16 checkpoint.num_checkpoints_write=3 \
    checkpoint.num_checkpoints_read=0 checkpoint.fsync=false
