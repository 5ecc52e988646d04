# DLBS's `bench_data report`; processors count, repeats have intervals.
row() { # DEVICES BATCH TIME RATE
    printf '{"exp.model_title": "Net", "exp.device_type": "cpu", "exp.num_gpus": 0,
"exp.num_replicas": %s, "exp.replica_batch": %s, "results.time": %s,
"results.throughput": %s}' "$1" "$2" "$3" "$4"
}
{
    echo "[$(row 1 8 10.0 800),"
    echo "$(row 2 8 12.5 1280),$(row 2 8 13.5 1180),"
    echo "$(row 1 16 19.25 831.2), {\"exp.model_title\": \"Failed\"}]"
} >in.json
prony parse in.json --report weak-scaling
prony parse in.json -q --report '{"inputs": ["exp.model_title", "exp.num_replicas"],
    "output": "exp.replica_batch", "output_cols": [16, 8],
    "report_batch_times": false, "report_input_specs": false}'
