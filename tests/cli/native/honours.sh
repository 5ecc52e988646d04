# The native engine: replicas are those of this machine, no GPU is used.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
export PRONY_NVML=
net="exp.framework=native exp.model=lenet nn.tiny=true exp.replica_batch=4"
check() {
    prony plan --validate "$@" 2>&1 | grep -E "^config|^warning|^nothing" |
        sed 's/ (.*)$//'
}
check $net exp.num_local_replicas=2
check $net exp.num_local_replicas=2 exp.effective_batch=8
check $net exp.num_local_replicas=2 exp.effective_batch=64
check $net exp.num_nodes=2
check $net exp.num_nodes=2 nn.mpi=true
check $net exp.gpus=0
check $net exp.gpus= exp.device_type=cpu
check $net reader.batch_size=2 train.epochs=3
check $net nn.compile=true
check quick --name vae,scaling exp.num_local_replicas=2
check quick --name vae exp.replica_batch=8
check quick --name vae train.epochs=8
