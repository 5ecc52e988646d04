# Files from before writes and reads were counted apart: num_checkpoints are
# written, and every recovery_after_steps-th is read at once.
ln -s "$(readlink -f "$(command -v prony)")" dlio_benchmark
mkdir -p conf/workload
cat > conf/workload/older.yaml <<'YAML'
model:
  name: older
  type: transformer
  num_layers: 1
  parallelism: {tensor: 1, pipeline: 1, zero_stage: 3}
  transformer: {vocab_size: 100, hidden_size: 16, ffn_hidden_size: 32, num_attention_heads: 4, num_kv_heads: 2}
framework: pytorch
workflow: {generate_data: False, train: False, checkpoint: True}
checkpoint:
  checkpoint_folder: ck
  time_between_checkpoints: 0
  num_checkpoints: 5
  recovery_after_steps: 2
YAML
./dlio_benchmark --config-dir=conf workload=older ++hydra.run.dir=res 2> said
sed 's/20[0-9-]*T[^ ]*/TIME/; s/in [0-9.]* s.*/in …/' res/dlio.log | grep loading
ls ck
python3 - <<'END'
import json
e = json.load(open("res/0_per_epoch_stats.json"))["1"]
print(*[k for k in e if "ckpt" in k])
END
prony plan conf/workload/older.yaml checkpoint.num_checkpoints_read=1 || echo "status $?"
# Any number of ranks that the model can be spread over, as DLIO has it.
prony run -q llama_8b_zero3 exp.accelerators=2 model.num_layers=1 \
    model.transformer.vocab_size=64 model.transformer.hidden_size=32 \
    model.transformer.ffn_hidden_size=32 checkpoint.time_between_checkpoints=0 \
    checkpoint.num_checkpoints_write=1 checkpoint.num_checkpoints_read=1 \
    -o out > /dev/null 2> said
find checkpoints -name '*.pt' | sort
grep -o '2 copies of the model, not model.parallelism.data=8' \
    out/experiments/*/result.json
