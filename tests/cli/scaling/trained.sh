# Suites have batches of their own, and replicas are those that ran.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
. "$SRC/tests/cli/scaling/reported.inc"
prony run -q quick -d data --name toy_reg,vae -o suite --no-isolation -- \
    --max-time 0.5 --min-time 0 >/dev/null
rates suite
cut -c 1-50 table | sed -n 2p
prony run -q exp.framework=native exp.model=lenet --tiny exp.num_batches=2 \
    nn.peak=false exp.replica_batch=4 -V exp.num_local_replicas='[1, 2]' -o two >/dev/null
rates two
prony scaling two | sed -n '2p; 3s/\(LeNet *[0-9]*\).*/\1/p'
