# Mistakes that run for an hour before anyone sees them, named with their line.
cat >one.sh <<'END'
NUM_GPU=1
PyTorch_ncf_FP32_PARAMS=( d args --batch_size 4000 )
PyTorch_maskrcnn_FP16_PARAMS=( d args SOLVER.IMS_PER_BATCH 6 )
PyTorch_transformerxlbase_FP32_PARAMS=( d args --batch_size 10 )
PyTorch_tacotron2_FP32_PARAMS=( d args --batch-size 200
    --training-files f/subset_625_x )
PyTorch_waveglow_FP32_PARAMS=( d args --training-files f/subset_625_x --batch-size 100 )
PyTorch_gnmt_FP16_PARAMS=( d args --train-batch-size many )
END
cat >config_pytorch_4xMINE.sh <<'END'
source one.sh
NUM_GPU=4
declare -A BATCH_SIZE_FIX=(
    [PyTorch_ncf_FP32]=4000
    [PyTorch_maskrcnn_FP16]=24
    [PyTorch_transformerxlbase_FP32]=42
)
source fix.sh
END
prony plan config_pytorch_4xMINE.sh >/dev/null
# One GPU, and other batches than the template's: nothing to say.
printf 'source one.sh\ndeclare -A BATCH_SIZE_FIX=( [PyTorch_ncf_FP32]=5\n[PyTorch_gnmt_FP16]=8 )\nsource fix.sh' >config_pytorch_MINE.sh
prony plan config_pytorch_MINE.sh >/dev/null
cp config_pytorch_MINE.sh config_pytorch_8xMINE.sh
prony plan config_pytorch_8xMINE.sh >/dev/null
