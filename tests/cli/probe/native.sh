# Native training on files that are slow to read.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony -q probe -P exp.framework=native -P exp.model=lenet --tiny \
    -P exp.replica_batch=4 -P workflow.generate_data=true \
    -P dataset.format=npy -P dataset.data_folder=data \
    -P dataset.record_dims='[28,28]' -P dataset.num_classes=10 \
    -P dataset.num_files_train=16 -P storage.latency=0.15 \
    --batches 2 --trials 1 --warmup 0 -o out > shown
sed -n 's/.*: \(input bound\).*/\1/p' shown
prony parse out | head -1
