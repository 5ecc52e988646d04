# A parameter that changes what is measured and that nobody looks at is an
# error; any other without effect is warned of, with its place.
export PRONY_NVML=
check() {
    echo "== $*" >&2
    prony plan --validate "$@" 2>&1 >answer | sed '/^prony: /d' >&2
    grep -E "^config|^nothing" answer | sed 's/ (0.*)$//' >&2 || :
}
# pytorch and tensorflow may not be installed here: only what concerns us.
net="exp.model=lenet exp.replica_batch=4"
for framework in pytorch tensorflow; do
    check exp.framework=$framework $net exp.num_local_replicas=2
    check exp.framework=$framework $net exp.num_local_replicas=1 exp.effective_batch=4
    check exp.framework=$framework $net -P exp.gpus='"0,1"'
    check exp.framework=$framework $net exp.effective_batch=64
    check exp.framework=$framework $net exp.num_nodes=2
    check exp.framework=$framework $net nn.mpi=true
done
check exp.framework=onnxruntime $net exp.phase=inference exp.dtype=float16
check exp.framework=tensorflow $net exp.data_dir=somewhere
check exp.framework=pytorch $net reader.batch_size=8
# What passes on to a value that is honoured has an effect.
check exp.framework=pytorch exp.model=lenet -P exp.effective_batch=64 \
    -P exp.replica_batch='"$(${exp.effective_batch} // ${exp.num_replicas})$"'
check exp.workload=null exp.num_local_replicas=2 exp.num_batches=3 null.steps=2
check exp.workload=null nn.threads=2 tensorflow.use_xla=true my.own=3
check exp.workload=emulate dataset.format=synthetic exp.gpus=0
check exp.workload=emulate dataset.format=synthetic exp.phase=inference
check exp.workload=emulate dataset.format=synthetic exp.accelerators=2
# A program of the user's may read its parameters, so that nothing is certain.
check -P exp.command='"echo ${exp.effective_batch}"' exp.replica_batch=8 exp.num_local_replicas=2
check -P exp.command='"true"' -V exp.num_local_replicas='[1, 2]'
# In a sweep it is enough that one of them looks at it.
check -V exp.workload='["null", "command"]' -P exp.command='"true"' null.steps=2
cat > own.yaml <<'END'
exp.workload: "null"
exp.dtype: float16
exp.num_batches: 7
END
check own.yaml
prony run -q own.yaml -o out && echo "no error" || echo "status $?"
ls out 2>/dev/null || echo "nothing was run"
