# Several models and batches in one table.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony run -q exp.framework=native nn.peak=false nn.threads=1 exp.num_batches=2 -V exp.model='["lenet", "deep_mnist"]' \
    -V exp.replica_batch='[1, 2]' -o out
