# What does not depend on the machine, as JSON: counts, keys, the warnings.
prony run -q -o out default ++workload.workflow.generate_data=True \
    ++workload.dataset.num_files_train=20 ++workload.train.epochs=2 \
    ++workload.train.computation_time=0 ++workload.evaluation.eval_time=0 \
    exp.accelerators=2 --format json | python3 -c 'import json, sys
e = json.load(sys.stdin)["experiments"][0]
v = e["results"]
print(e["status"], e.get("reason", ""))
for name in "accelerators epochs steps samples skipped_samples eval_samples bytes_delivered".split():
    print(name, v[name])
print(v["by_accelerator"]["samples"], len(v["by_epoch"]))
# What every run tells; a kernel may tell more.
names = """barrier_share bytes_read by_epoch checksum data_set_bytes decode
    engine first_done_s generated_bytes generated_seconds last_done_s
    late_us_max late_us_mean samples_per_second seconds step_ms_max step_ms_p50
    step_ms_p90 step_ms_p99 storage_mb_per_second threads utilisation
    utilisation_by_epoch verdict wait_ms_max wait_ms_p50 wait_ms_p90
    wait_ms_p99 wait_share eval_bytes_read eval_samples_per_second
    eval_seconds eval_utilisation dlio.train_au_mean_percentage
    dlio.train_throughput_mean_samples_per_second
    dlio.eval_au_mean_percentage""".split()
print("missing:", [n for n in names if n not in v])
for p in v["by_epoch"]:
    print(p["epoch"], p["phase"])
print(sum(w.startswith("the data set") for w in e["warnings"]))'
