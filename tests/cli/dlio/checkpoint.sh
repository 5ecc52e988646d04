# Checkpoints by DLIO's command line: its lines, its files, its figures.
ln -s "$(readlink -f "$(command -v prony)")" dlio_benchmark
mkdir -p conf/workload
cat > conf/workload/small_job.yaml <<'END'
model:
  name: small
  type: transformer
  num_layers: 2
  model_datatype: fp16
  optimizer_datatype: fp32
  parallelism: {tensor: 1, pipeline: 2, zero_stage: 1}
  transformer: {vocab_size: 1000, hidden_size: 64, ffn_hidden_size: 128, num_attention_heads: 8, num_kv_heads: 2}
framework: pytorch
workflow: {generate_data: False, train: False, checkpoint: True}
checkpoint: {checkpoint_folder: ck, num_checkpoints_write: 2, num_checkpoints_read: 1, time_between_checkpoints: 0, fsync: True}
END
./dlio_benchmark --config-dir=conf workload=small_job ++hydra.run.dir=res \
    ++exp.accelerators=2
find ck | sort
python3 - <<'END'
import json
s = json.load(open("res/summary.json"))
print(s["num_accelerators"], round(s["metric"]["checkpoint_size_GB"] * 2**30))
print(*s["metric"], sep="\n")
e = json.load(open("res/0_per_epoch_stats.json"))
for k in e:
    print(k, *e[k])
END
# A Python class, and DLIO's MPI with a number of processes that does not fit.
./dlio_benchmark -cd conf workload=small_job ++hydra.run.dir=r2 \
    ++workload.checkpoint.checkpoint_mechanism_classname=my.Class \
    || echo "status $?"
./dlio_benchmark -cd conf workload=small_job ++hydra.run.dir=r3 \
    ++exp.accelerators=3 || echo "status $?"
