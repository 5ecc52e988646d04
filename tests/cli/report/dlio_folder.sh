# tags: valgrind
mkdir res
cat > res/summary.json <<'END'
{"start": "2026-01-02T03:04:05.000000", "end": "2026-01-02T03:04:15.500000",
 "metric": {"train_throughput_samples_per_second": [5.5, 6.25],
 "train_au_mean_percentage": 80.5, "train_au_stdev_percentage": NaN,
 "train_au_meet_expectation": "fail"}}
END
for i in 0 1; do
cat > res/${i}_output.json <<END
{"1": {"load": {"block1": [0.5, 0.25, 0.$i]}, "proc": {"block1": [2.0, 1.0, 0.5]},
 "compute": {"block1": [1.5, 0.75, 0.25]}, "au": {"block1": 8$i.0}, "throughput": {"block1": 3.0}},
 "2": {"load": {"block1": [0.5]}, "proc": {"block1": [2.0]}, "compute": {"block1": [1.5]},
 "au": {"block1": 80}, "throughput": {"block1": 2.0}}}
END
done
cat > res/0_per_epoch_stats.json <<'END'
{"1": {"start": "2026-01-02T03:04:05.000000",
 "block1": {"start": "2026-01-02T03:04:05.500000", "end": "2026-01-02T03:04:09.500000", "duration": "4.00"},
 "end": "2026-01-02T03:04:10.000000", "duration": "5.00"},
 "2": {"start": "2026-01-02T03:04:10.000000",
 "block1": {"start": "2026-01-02T03:04:10.500000", "end": "2026-01-02T03:04:12.500000", "duration": "2.00"},
 "save_ckpt1": {"start": "2026-01-02T03:04:12.500000", "end": "2026-01-02T03:04:13.000000", "duration": 0.5},
 "end": "2026-01-02T03:04:15.000000", "duration": "5.00"}}
END
mkdir res/.hydra
cat > res/.hydra/config.yaml <<'END'
workload:
  model:
    name: "tiny\e[31m"
  dataset:
    record_length_bytes: 1048576
  reader:
    batch_size: 4
  train:
    epochs: 2
END
prony report res | head -12
prony report res --format csv | tr -d '\r'
prony report res --format md | head -8
prony report res --format json | python3 -c '
import json, sys
d = json.load(sys.stdin)["dlio"]
print(d["overall"]["samples/s"]["mean"], d["phases"][0]["utilisation_pct"], d["ranks"][1], d["metric"])'
echo '[]' > res/summary.json
prony report res || echo "status $?"
