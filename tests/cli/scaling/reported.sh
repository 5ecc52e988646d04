# Throughput is what a run reported, whatever batch was asked for.
. "$SRC/tests/cli/scaling/reported.inc"
small="exp.workload=emulate dataset.format=npz dataset.num_files_train=8
 dataset.record_length_bytes=1000 reader.batch_size=2 train.epochs=1
 train.computation_time=0.01 dataset.data_folder=data"
prony run -q $small exp.accelerators=2 workflow.generate_data=true -o emulated >/dev/null
rates emulated
prony probe -q $small probe.batches=2 probe.trials=1 probe.warmup=0 -o probed >/dev/null
rates probed
prony run -q -P exp.name='"tells"' -P exp.command='["printf", "__results.time__= 100\\n__results.throughput__= 70\\n"]' -o told >/dev/null
rates told
prony parse -q told --output-file told.json --output-params exp.name,exp.effective_batch,results.time,results.throughput >/dev/null
prony scaling told.json --type exploration | grep tells
# One that reports none has none: its batch of 16 was asked for, not computed.
prony run -q -P exp.name='"silent"' -P exp.command='["echo", "__results.time__= 100"]' -o silent >/dev/null
prony scaling silent --type weak-scaling
