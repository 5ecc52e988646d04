# Data of tasks of GPU systems: what can be made is made, the rest is named.
prony doctor | grep -q "^formats.*jpeg" || { echo "no format jpeg; install libturbojpeg0-dev"; exit 77; }
cat >config_pytorch_2xMINE_v2.sh <<'END'
NUM_GPU=2
NUM_EXP=2
PyTorch_resnet50_AMP_PARAMS=( c args --batch-size 32 )
PyTorch_resnet50_FP32_PARAMS=( c args --batch-size 32 )
PyTorch_gnmt_FP32_PARAMS=( t args --train-batch-size 64 )
PyTorch_bert_base_squad_FP32_PARAMS=( b args x y 24 )
END
mkdir -p data/bert_base data/squad/v1.1 # an empty folder is no data
prony generate config_pytorch_2xMINE_v2.sh -d data | sed 's/made, .*/made/'
ls data/images/train | wc -l
prony generate config_pytorch_2xMINE_v2.sh -d data --verify --name amp | sed 's/verified, .*/verified/'
prony generate config_pytorch_2xMINE_v2.sh -d data --name gnmt,bert --format json | grep -A8 others
try() { prony generate "$@" -d data && echo "no error: $*" || echo "status $?"; }
echo == nothing of it
try config_pytorch_2xMINE_v2.sh --name gnmt
echo == native equivalents take only ours
try "$SRC"/suites/gpu-system.yaml -P suite_on='"cpu"' --name gnmt_fp32,resnet_fp32
try "$SRC"/suites/gpu-system.yaml -P suite_on='"cpu"' --name ncf_fp32
echo == and read it
prony run "$SRC"/suites/gpu-system.yaml -P suite_on='"cpu"' -P suite_images=true \
    --name resnet_fp32 -d data -o out -q | grep -c ' ok '
grep -o '^data: [0-9]* batches' out/experiments/*/log.txt
try() { prony run "$SRC"/suites/gpu-system.yaml "$@" -q && echo "no error" || echo "status $?"; }
try -P suite_on='"cpu"' -P suite_images=true --name resnet_fp32 -d nowhere -o bad
