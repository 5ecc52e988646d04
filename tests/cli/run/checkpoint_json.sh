# What does not depend on the machine, as JSON: sizes, counts, names.
prony run -q -o out llama3_8b model.num_layers=2 model.parallelism.data=2 \
    model.transformer.vocab_size=1000 model.transformer.hidden_size=64 \
    model.transformer.ffn_hidden_size=128 \
    model.transformer.num_attention_heads=8 \
    model.transformer.num_kv_heads=2 checkpoint.checkpoint_folder=ck \
    checkpoint.time_between_checkpoints=0 checkpoint.num_checkpoints_write=2 \
    checkpoint.num_checkpoints_read=1 --format json | python3 -c 'import json, sys
e = json.load(sys.stdin)["experiments"][0]
v = e["results"]
print(e["status"], e.get("reason", ""), e.get("warnings", ""))
for name in sorted(v):
    if name.startswith(("checkpoint", "dlio.")):
        same = isinstance(v[name], (str, bool, int))
        print(name, v[name] if same else "")
for c in v["checkpoints"]:
    print(*(c[k] for k in ("operation", "epoch", "step", "ranks")))
    for k in c:
        if k.startswith("seconds") or k == "gb_per_second":
            assert c[k] > 0, k
print(*v["prony.main"])
'
