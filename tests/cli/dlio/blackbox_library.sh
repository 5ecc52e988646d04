# The same for the formats that need a library.
for f in png jpeg hdf5; do
    prony generate dataset.format=$f dataset.num_files_train=1 storage.engine=null > said 2>&1 ||
        { echo "no $f; install what prony doctor names"; exit 77; }
done
ln -s "$(readlink -f "$(command -v prony)")" dlio_benchmark
run() { # NAME ACCELERATORS OVERRIDES…: what it leaves
    name=$1 n=$2
    shift 2
    rm -rf out
    if ./dlio_benchmark ++hydra.run.dir=out ++exp.accelerators="$n" "$@" 2> log; then
        echo "$name: $(ls out | grep -c _output.json) of $n"
    else
        echo "$name: status $?"
        cat log
    fi
}
count() { find "$1" -name "*.$2" | wc -l; }
short="++workload.train.computation_time=0.001 ++workload.evaluation.eval_time=0.001 ++workload.train.epochs=1"

for f in png jpeg hdf5; do
    ext=$f
    case $f in *indexed_binary) ext=indexed_binary ;; esac
    loader=pytorch
    [ "$f" = tfrecord ] && loader=tensorflow
    rm -rf data
    run "generate $f" 2 ++workload.workflow.train=False ++workload.workflow.generate_data=True \
        ++workload.workflow.evaluation=False ++workload.dataset.format=$f \
        ++workload.dataset.num_files_train=8 ++workload.dataset.num_files_eval=8 ++workload.framework=$loader \
        ++workload.reader.data_loader=$loader
    for e in "$f" "$ext"; do
        [ "$(count data "$e")" -gt 0 ] && break
    done
    echo "  $(count data/default/train "$e") + $(count data/default/valid "$e")"
    for files in 16 17; do
        rm -rf data
        run "train $f $files" 2 $short ++workload.workflow.generate_data=True ++workload.dataset.format=$f \
            ++workload.dataset.num_files_train=$files ++workload.framework=$loader \
            ++workload.reader.data_loader=$loader ++workload.reader.read_threads=1
    done
done
rm -rf data
run "3 dimensions" 1 ++workload.workflow.generate_data=True ++workload.dataset.format=jpeg \
    '++workload.dataset.record_dims=[2,3,4]' | sed 's/prony: .*dimension.*/refused for its dimensions/' |
    grep -e status -e refused
