# tags: valgrind
# Sizes and numbers of files of checkpoints, as DLIO counts them; what comes
# before and after this table is shown by other tests.
table()
{
    prony plan "$@" | sed -n '/^checkpoints of/,/^$/p' | cut -c 17-
}
for w in llama3_8b llama3_70b llama_70b llama3_405b llama3_1t llama_7b; do
    table $w
done
table llama_8b_zero3 ++workload.model.parallelism.data=1024 \
    ++workload.checkpoint.mode=subset exp.accelerators=2
table unet3d_h100 exp.accelerators=8 model.parallelism.zero_stage=1
table megatron_deepspeed_LLNL
table default workflow.checkpoint=true -V exp.accelerators='[1, 4]' \
    -V model.num_layers='[-1, 2]'
table default
