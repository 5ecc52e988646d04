# The report of checkpoints alone, of a run and of one experiment.
prony run -q -o out llama3_8b model.num_layers=2 model.parallelism.data=2 \
    model.transformer.vocab_size=1000 model.transformer.hidden_size=64 \
    model.transformer.ffn_hidden_size=128 \
    model.transformer.num_attention_heads=8 \
    model.transformer.num_kv_heads=2 checkpoint.checkpoint_folder=ck \
    checkpoint.time_between_checkpoints=0 checkpoint.num_checkpoints_write=2 \
    checkpoint.num_checkpoints_read=1 > text
prony report out
prony report out/experiments/0001-* > one
head -1 one
prony report out --format csv
