# tags: valgrind
# The cost of an emulated training: what it makes, reads, and how long that
# computes. Its own files are counted, not the mean of a record.
prony plan unet3d_h100 mlperf.host_memory=64GiB
prony plan resnet50_v100 mlperf.host_memory=64GiB exp.accelerators=8
prony plan default ++workload.workflow.generate_data=True
prony plan default ++workload.train.total_training_steps=2 \
    ++workload.workflow.evaluation=False
prony plan default -V exp.accelerators='[1, 4]' -V reader.read_threads='[1, 2]'
