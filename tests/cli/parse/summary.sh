# tags: valgrind
# A folder of logs: a summary on stdout; one bad line never loses a file.
mkdir -p logs/deeper
log() { # FILE MODEL GPUS BATCH TIME THROUGHPUT
    {
        echo 'I1016 net.cpp:42] Top shape: 1 2 3'
        echo "__exp.model_title__=\"$2\""
        echo "__exp.model__=\"$2\""
        echo "__exp.gpus__=\"$3\""
        echo "__exp.effective_batch__=$4"
        printf 'progress 10%%\rprogress 20%%\n'
        echo "__results.time__= $5"
        echo "__results.throughput__= $6"
    } >"$1"
}
log logs/a.log AlexNet 0 16 10.5 1523
log logs/b.log AlexNet 0,1 32 11.25 2844
log logs/deeper/c.log VGG 0 16 100 160
printf '__results.time__= 12 ms\nhalf a line: __results.' >>logs/b.log
prony parse logs
prony parse logs --recursive --ignore-errors
prony parse logs --recursive -q --query '{"exp.model": "VGG"}' --format json
