# A config of Lambda's, read without a shell: two tasks, three times each.
# run: prony plan examples/lambda.sh --name SSD
# expect: *PyTorch_SSD_AMP*3*torchrun --nproc_per_node=4 main.py*--batch-size 96 --amp*
NUM_GPU=4
NUM_EXP=3

PyTorch_SSD_AMP_PARAMS=(
    "benchmark/Detection/SSD"
    args
    --data "/data/object_detection"
    --batch-size "96"
    --amp
)
PyTorch_gnmt_FP16_PARAMS=(
    "benchmark/Translation/GNMT"
    args
    --dataset-dir "/data/gnmt"
    --train-batch-size "256" --math fp16
)
