# A job that fails ends with 1, and says what was asked for.
ln -s "$(readlink -f "$(command -v prony)")" dlio_benchmark
mkdir -p conf/workload
cat > conf/workload/tiny_job.yaml <<'END'
model: {name: ../../tiny}
dataset: {data_folder: data, format: npz, num_files_train: 8}
reader: {data_loader: pytorch}
END
./dlio_benchmark -cd conf workload=tiny_job ++workload.dataset.format=nothing || echo "status $?"
./dlio_benchmark -cd conf workload=tiny_job ++hydra.run.dir=res ++workload.train.epochs=1 || echo "status $?"
ls -d hydra_log/*
