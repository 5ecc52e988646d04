try() {
    prony gather "$@" && echo "no error: $*" || echo "status $?"
}
try
try nowhere
: >file
try file
mkdir -p r/2xMINE_v2/PyTorch_SSD_FP32
try r --system 2xMINE
try r --precision int8
try r --dialect v3
try r --dialect g1 --metric bs
echo 'systems: 3' >bad.yaml
try r --systems bad.yaml
echo 'systems: [{folder: x, gpus: many}]' >bad.yaml
try r --systems bad.yaml
echo 'systems: [{folder: x, price: cheap}]' >bad.yaml
try r --systems bad.yaml
try r --threads 0
# Nothing in it is no error.
mkdir none
try none
try none --format text
