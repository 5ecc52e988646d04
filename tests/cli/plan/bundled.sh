# The bundled workloads are DLIO's: by name, with overrides in hydra's form.
prony plan unet3d_a100 ++workload.dataset.num_files_train=16 --format json |
    sed -n 2p | tr ',' '\n' | grep -E 'num_files|batch_size|computation_time|metric.au'
for w in bert_v100 cosmoflow_a100 default dlrm megatron_deepspeed_LLNL \
         resnet50_tf resnet50_h100; do
    prony plan $w --format json | grep -c '"exp.workload": "emulate"'
done
