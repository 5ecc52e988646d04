# What hydra composes, and that nothing is written.
ln -s "$(readlink -f "$(command -v prony)")" dlio_benchmark
mkdir -p conf/workload
cat > conf/workload/small_job.yaml <<'END'
model:
  name: small
framework: pytorch
dataset:
  data_folder: ./data
  num_files_train: 8
  record_length_bytes: 114660.07
  names: ["a: b", 'yes', "2026-01-02", "x\ty", é]
reader:
  data_loader: pytorch
train:
  epochs: 2
  computation_time: 1.00
  seed: null
END
./dlio_benchmark --config-dir=conf workload=small_job --cfg job \
    ++workload.train.computation_time.type=uniform \
    ++workload.train.computation_time.min=1e-3 \
    workload.train.epochs=3 workload.train.epochs=4 \
    +workload.checkpoint.ksm={} '~workload.reader' \
    ++workload.dataset.a=None ++workload.dataset.b=off ++workload.dataset.c=TRUE \
    ++workload.dataset.d= '++workload.dataset.e=[1,x,{k: 2.50}]' \
    '++workload.output.folder=${workload.dataset.data_folder}/${oc.env:NO_SUCH,out}'
echo resolved
./dlio_benchmark -cd conf workload=small_job --cfg job --resolve \
    '++workload.output.folder=${workload.dataset.data_folder}/${oc.env:NO_SUCH,out}/${now:x}' \
    '++workload.n=${workload.train.epochs}' ++workload.unknown='${nothing.here}' | tail -6
ls
