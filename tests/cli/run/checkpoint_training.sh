# Checkpoints while training, by epochs and by steps; their cost is told.
run()
{
    echo "-- $*"
    name=$1
    shift
    prony run -q -o "$name" default exp.accelerators=2 train.epochs=3 \
        workflow.generate_data=true workflow.checkpoint=true \
        dataset.num_files_train=16 dataset.num_files_eval=0 \
        workflow.evaluation=false train.computation_time=0.001 \
        reader.batch_size=2 checkpoint.checkpoint_folder=ck "$@" > text
    grep -o 'checkpoints of .*' text || echo "no checkpoints"
    grep 'saving' "$name"/experiments/*/dlio.log || :
    ls -A ck
    rm -r ck
}
mkdir ck
run epochs emulate.framework=pytorch checkpoint.epochs_between_checkpoints=2
run later emulate.framework=pytorch checkpoint.checkpoint_after_epoch=3
run steps emulate.framework=pytorch checkpoint.steps_between_checkpoints=3 \
    checkpoint.keep=2
run tensorflow emulate.framework=tensorflow checkpoint.checkpoint_after_epoch=3
mkdir ck
run none checkpoint.steps_between_checkpoints=0
