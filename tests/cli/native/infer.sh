# Inference has no loss; the report shows figures and layers.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony run -q exp.framework=native exp.model=lenet nn.threads=1 exp.replica_batch=2 exp.num_batches=3 \
    exp.phase=inference nn.peak=false nn.profile=true -o out > said
prony report out
prony report out/experiments/* --format csv
grep -c loss out/experiments/*/log.txt || true
