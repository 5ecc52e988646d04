# What a shell would do and we do not is named, with its line.
n=0
try() {
    n=$((n + 1))
    printf 'NUM_GPU=1\n%b' "$1" >$n.sh
    prony plan ./$n.sh >out && echo "no error: $1" || echo "status $?"
}
try 'for i in 1 2; do\n'
try 'X=$(date)\n'
try 'X=`date`\n'
try 'X="`date`"\n'
try 'X="${Y}"\n'
try 'X=1; rm -rf /\n'
try 'X=( a b\n'
try 'X="a\n'
try 'declare -i X=3\n'
try 'declare -A X=( a )\n'
try 'X=( *.txt )\n'
try 'source /etc/passwd\n'
try 'source nowhere.sh\n'
try 'source 14.sh\n'
try 'NUM_GPU=many\nPyTorch_SSD_FP32_PARAMS=( d args )\n'
try 'PyTorch_SSD_FP32_PARAMS=( d --batch-size 1 )\n'
try 'PyTorch_SSD_FP32_PARAMS=( d args '"'"'${exp.id}'"'"' )\n'
try 'PyTorch_none_FP32_PARAMS=( d args )\n'
try ''
try 'PyTorch_SSD_FP32_PARAMS=( d args )\n'
try 'PyTorch_SSD_FP32_PARAMS=( '"'"'a$(1)$'"'"' args )\n'
prony plan ./20.sh --name resnet_fp32
