# tags: valgrind
# A config is run, without a GPU: programs of our own stand for the tasks'. An
# exit status of 0 is not enough, the figure must be there. What is left can be
# gathered, as is or from the run's own results.
mkdir bin code
cat >bin/torchrun <<'END'
#!/bin/sh
echo "$# arguments, the last is '$6'"
[ "$3" = --mode ] && printf 'Done benchmarking. Total images: 16\ttotal time: 1.6\tAverage images/sec: 10.000\tMedian images/sec: 10.25\n'
[ "$2" = train.py ] && echo 'CUDA out of memory. Tried to allocate 2.00 GiB'
exit 0
END
cat >bin/python <<'END'
#!/bin/sh
echo 'DLL day time - Summary: train.loss : 4.4 None train.compute_ips : 905.44 images/s train.total_ips : 1 images/s'
exit 3
END
chmod +x bin/*
PATH=$TMP/bin:$PATH
cat >config_pytorch_2xMINE_v2.sh <<'END'
#!/bin/bash
NUM_GPU=2
NUM_EXP=2
PyTorch_SSD_FP32_PARAMS=(
    "." # the folder
    args
    --batch-size "8"
    "two words"
)
PyTorch_gnmt_FP32_PARAMS=( . args --train-batch-size 64 )
PyTorch_resnet50_AMP_PARAMS=( . args --batch-size 32 )
END
prony run config_pytorch_2xMINE_v2.sh --name ssd -P exp.gpus='""' \
    -P task.workspace='"'"$TMP/code"'"' -o out --format json | tr '{}' '\n\n' | sed 's/, "/\n"/g' |
    grep -E '"(status|throughput|unit|exp.effective_batch|task.repeat)"'
ls out/2xMINE_v2 out/2xMINE_v2/PyTorch_SSD_FP32 | sed 's/[0-9]\{2\}-[0-9-]*_[0-9-]*/DATE/; s/DATE_2/DATE/'
cat out/2xMINE_v2/PyTorch_SSD_FP32/benchmark.para
head -3 "$(ls out/2xMINE_v2/PyTorch_SSD_FP32/*.txt | tail -1)"
sed 's/:.*/:/' out/2xMINE_v2/sys_pytorch.txt
prony gather out
echo == failures
prony run config_pytorch_2xMINE_v2.sh --name gnmt,resnet_amp -P exp.gpus='""' \
    -P task.workspace='"'"$TMP/code"'"' -P task.results='"tree"' -o bad >table && exit 99
echo "status $?"
grep -o 'PyTorch_[a-z0-9]*_[AMPF0-9]* .*failed' table | tr -s ' '
prony gather tree --format json | grep -E '"(task|n|failed|mean|notes)"'
echo == repeats are runs of one test
prony report out --weights '{"PyTorch_SSD_FP32": 1}' | sed -n 4,5p
