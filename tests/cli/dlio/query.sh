# One value of the config, with DLIO's defaults and Python's words.
ln -s "$(readlink -f "$(command -v prony)")" dlio_benchmark
ln -s dlio_benchmark dlio_benchmark_query
mkdir -p conf/workload
cat > conf/workload/job_a.yaml <<'END'
model: {name: small}
dataset: {num_files_train: 8, data_folder: data/x/}
workflow: {generate_data: False, train: True}
data_reader: {batch_size: 4}
reader: {batch_size: 9}
train: {computation_time: {mean: 0.25, stdev: 0.5}}
END
for key in dataset.num_files_train dataset.data_folder dataset.format \
    reader.batch_size data_reader.batch_size reader.shuffle_size \
    reader.transfer_size train.computation_time train.computation_time_stdev \
    evaluation.eval_time workflow.train workflow.generate_data metric.au \
    model.name checkpoint.mode profiling.iostat_devices storage.storage_options x; do
    printf '%s: ' "$key"
    ./dlio_benchmark_query -cd conf workload=job_a ++workload.workflow.query=$key
done
./dlio_benchmark_query -cd conf workload=job_a
