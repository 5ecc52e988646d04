# A run by DLIO's command line: its files, hydra's files, Prony's inside.
ln -s "$(readlink -f "$(command -v prony)")" dlio_benchmark
mkdir -p conf/workload
cat > conf/workload/tiny_job.yaml <<'END'
model: {name: tiny}
framework: pytorch
workflow: {generate_data: True, train: True, debug: True}
dataset: {data_folder: data, format: npz, num_files_train: 8, record_length_bytes: 4096}
reader: {data_loader: pytorch, batch_size: 2}
train: {epochs: 2, computation_time: 0.001}
END
./dlio_benchmark --config-dir=conf workload=tiny_job ++hydra.run.dir=res \
    ++hydra.output_subdir=dlio_config ++exp.accelerators=2 \
    ++workload.dataset.num_files_train=12
head -3 res/dlio_config/config.yaml
cat res/dlio_config/overrides.yaml
grep -A2 '  run:' res/dlio_config/hydra.yaml
python3 - <<'END'
import json
s = json.load(open("res/summary.json"))
print(s["num_accelerators"], s["num_files_train"], len(s["metric"]["train_au_percentage"]))
END
# Again into the same folder, without generating, results elsewhere.
./dlio_benchmark -cd conf workload=tiny_job ++hydra.run.dir=res 2> log \
    ++workload.workflow.generate_data=False ++workload.output.folder=other \
    ++workload.dataset.num_files_train=12
grep -c METRIC log
DLIO_LOG_LEVEL=error ./dlio_benchmark -cd conf workload=tiny_job \
    ++workload.dataset.num_files_train=12
prony report res --format csv | cut -d, -f1,2,4
