# DLIO's own tests, as far as its command line and its files show them.
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

for f in npz npy csv tfrecord indexed_binary mmap_indexed_binary; do
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
run "generate 64" 2 ++workload.workflow.train=False ++workload.workflow.generate_data=True ++workload.workflow.evaluation=False
run "subset" 2 $short ++workload.dataset.num_files_train=8
for t in 0 1 2; do
    run "threads $t" 2 $short ++workload.reader.read_threads=$t ++workload.dataset.num_files_train=8
done
for c in None fork spawn forkserver; do
    run "context $c" 2 $short ++workload.reader.multiprocessing_context=$c ++workload.dataset.num_files_train=8
done
t=++workload.train.computation_time
run "uniform" 1 $short $t.type=uniform $t.min=0.001 $t.max=0.002
run "normal" 1 $short $t.type=normal $t.mean=0.002 $t.stdev=0.0001
run "gamma" 1 $short $t.type=gamma $t.shape=1.0 $t.scale=0.001
run "exponential" 1 $short $t.type=exponential $t.scale=0.001
run "poisson" 1 $short $t.type=poisson $t.lam=0.001
run "mean" 1 $short $t.mean=0.001
run "mean, stdev" 1 $short $t.mean=0.001 $t.stdev=0.0001
for files in 13 24 25; do
    rm -rf data
    run "uneven $files" 3 $short ++workload.train.epochs=3 ++workload.workflow.generate_data=True \
        ++workload.dataset.num_files_train=$files
done
rm -rf data
run "storage root" 2 $short ++workload.workflow.generate_data=True ++workload.storage.storage_root=root_dir \
    ++workload.dataset.num_files_train=16
echo "  $(count root_dir/data/default/train npz) + $(count root_dir/data/default/valid npz)"
run "eval" 2 $short ++workload.train.epochs=4 ++workload.workflow.evaluation=True ++workload.storage.storage_root=root_dir \
    ++workload.dataset.num_files_train=16
