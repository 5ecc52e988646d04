# Bytes reported are bytes read, whatever length was configured.
cat > v3.yaml <<'EOF'
model: {name: retinanet, type: cnn}
framework: pytorch
workflow: {generate_data: true, train: true}
dataset:
  data_folder: data
  format: jpeg
  num_files_train: 16
  num_samples_per_file: 1
  record_length_bytes: 322957
storage: {storage_type: direct_fs}
reader: {data_loader: pytorch, batch_size: 4, read_threads: 1}
train: {epochs: 1, computation_time: 0.001}
EOF
figures() {
    python3 - "$1" <<'EOF'
import glob, json, sys
folder, = glob.glob(sys.argv[1] + "/experiments/*")
r = json.load(open(folder + "/result.json"))["results"]
m = json.load(open(folder + "/summary.json"))["metric"]
n = r["bytes_read"] / r["samples"]
for mb, rate in (
        (r["dlio.train_io_mean_MB_per_second"],
         r["dlio.train_throughput_mean_samples_per_second"]),
        (m["train_io_mean_MB_per_second"],
         m["train_throughput_mean_samples_per_second"])):
    assert abs(mb * 1048576 / rate - n) < 1, (mb, rate, n)
print("decode", r["decode"], "payload", r.get("payload"),
      "bytes a sample", round(n, -4))
EOF
}
# MLPerf v3's workloads are raw bytes, and O_DIRECT is an engine.
prony run v3.yaml -o raw > said
grep "payload" said || true
figures raw
# The files of its engine, or of anybody, without our marker.
rm data/.prony-dataset.json
prony run v3.yaml workflow.generate_data=false dataset.payload=pixels \
    -o undecodable > said 2>&1 && exit 99
grep -o 'this is not a jpeg file; .* set dataset.payload=raw$' said | head -1
prony run v3.yaml workflow.generate_data=false -o foreign > said 2>&1
grep 'the training files have' said && exit 99
figures foreign
# Pixels: what is read is what the compression left.
for payload in pixels file; do
    prony run v3.yaml -o $payload dataset.payload=$payload \
        dataset.data_folder=$payload > said 2>&1
    figures $payload
done
# Files that are much smaller than the parameters say.
rm data/.prony-dataset.json 2> /dev/null || true
for f in data/train/*; do head -c 461 "$f" > x && mv x "$f"; done
prony run v3.yaml workflow.generate_data=false -o small > said 2>&1
grep -o 'the training files have .* times smaller' said | head -1
