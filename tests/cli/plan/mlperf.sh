# tags: valgrind
# How much data MLPerf Storage wants: what `mlpstorage training datasize`
# prints, and how to make it.
prony plan unet3d_h100 exp.accelerators=16 mlperf.hosts=2 mlperf.host_memory=128GiB |
    sed -n '/MLPerf/,$p'
prony plan resnet50_a100 exp.accelerators=16 mlperf.host_memory=64GiB |
    sed -n '/MLPerf/,$p'
prony plan cosmoflow_h100 exp.accelerators=16 mlperf.host_memory=64GiB \
    dataset.data_folder=/x dataset.num_files_train=20 reader.read_threads=2 |
    sed -n '/MLPerf/,$p'
prony plan resnet50_h100 exp.accelerators=80 mlperf.hosts=2 \
    mlperf.host_memory=256GiB --format json | tail -1

# Of a sweep the first few, in JSON all.
prony plan unet3d_a100 -V exp.accelerators='[1, 2, 3, 4, 5, 6]' \
    mlperf.host_memory=1GiB | grep -c '^  files '
prony plan unet3d_a100 -V exp.accelerators='[1, 2, 3, 4, 5, 6]' \
    mlperf.host_memory=1GiB --format json | tail -1 | grep -o num_files_train |
    wc -l

# Others are not concerned, unless they say so.
prony plan default | grep -c MLPerf || true
prony plan default mlperf.division=open mlperf.host_memory=1GiB | grep 2.1
