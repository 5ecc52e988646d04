# A chain of configs: a template for one GPU, one that changes it for four, one
# that changes that; source is looked for in the folders above, too.
mkdir -p scripts/config_x
cd scripts
cat >config_x/config_pytorch_40GB.sh <<'END'
NUM_GPU=1
NUM_EXP=1
PyTorch_SSD_FP32_PARAMS=(
    "benchmark/Detection/SSD"
    args
    --data          "/data/object_detection"
  --batch-size      "128"
    --benchmark-iterations "500" # of which some are left out
)
PyTorch_ncf_FP32_PARAMS=( benchmark/NCF args --batch_size 4000000 )
PyTorch_tacotron2_FP16_PARAMS=( benchmark/Taco args --batch-size 144
  --training-files 'filelists/x_subset_625_y.txt' )
PyTorch_bert_base_squad_FP16_PARAMS=( benchmark/BERT args ckpt 2.0 "160" 0.0 0.1 fp16 "${NUM_GPU}" 1 squad vocab out train config 100 )
PyTorch_resnet50_FP16_PARAMS=( examples/resnet50v1.5 args --batch-size 64 )
PyTorch_other_FP32_PARAMS=( x args )
END
cat >config_x/config_pytorch_4x40GB.sh <<'END'
source config_x/config_pytorch_40GB.sh
NUM_GPU=4
NUM_EXP=3
declare -A BATCH_SIZE_FIX=(
    [PyTorch_ncf_FP32]=16000000
    [PyTorch_bert_base_squad_FP16]=80
    # [PyTorch_SSD_FP32]=1
)
declare -A SSD_ITER_FIX=( [PyTorch_SSD_FP32]="250" )
declare -A tacotron2_DATA_FIX=( )
declare -A BERT_GPU_FIX=( [PyTorch_bert_base_squad_FP16]=4 )
source config_x/fix.sh
END
printf 'source config_x/config_pytorch_4x40GB.sh\ndeclare -A BATCH_SIZE_FIX=( [PyTorch_SSD_FP32]="64 oops" )\ndeclare -A tacotron2_DATA_FIX=(\n  [PyTorch_tacotron2_FP16]="filelists/x_subset_1250_y.txt"\n)\nsource config_x/fix.sh' >config_x/config_pytorch_2xMINE.sh
prony plan config_x/config_pytorch_2xMINE.sh
echo == template
prony plan config_x/config_pytorch_40GB.sh -q --name tacotron2,resnet50
echo == places
PRONY_DATA=/mnt/x prony plan config_x/config_pytorch_40GB.sh -q --name SSD --format json |
    tr '{}' '\n\n' | sed 's/, "/\n"/g' |
    grep -A100 '"exp.command": \["torch' | grep -E '^"(--|/|exp.cwd|container.mounts|container.shm|task)'
PRONY_DATA=/mnt/x prony plan config_x/config_pytorch_40GB.sh -q --name SSD --image mine:1 | grep -o 'data /[^ ]*'
