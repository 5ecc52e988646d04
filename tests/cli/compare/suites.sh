# Results of milarun: devices of a repeat are one observation, a failed child
# is counted, summaries and folders may be mixed.
child() { # FOLDER REPEAT DEVICE RATE OK
    rates=$(printf '%s, ' "$4" "$4" "$4" "$4" "$4" "$4" "$4" "$4")
    cat >"$1/s.vae.J$2.$3.$([ "$5" = true ] || echo FAIL.)2020061$2-12000$3-000000.json" <<END
{"name": "s.vae", "job_id": "$2.$3", "device": $3, "devices": [$3],
 "job": {"partition_scheme": {"type": "per-gpu"}}, "success": $5,
 "environ": {"CUDA_VISIBLE_DEVICES": "$3"}, "device_count": 1, "metrics": {},
 "timings": {"program": {"time": 5}, "train": {"rates": [${rates}1]}},
 "gpu_monitor": {"$3": {"memory": {"max": 10}}}}
END
}
mkdir a b
for r in 0 1 2 3; do
    child a $r 0 10$r true
    child a $r 1 20$r true
    child b $r 0 11$r true
    child b $r 1 22$r "$([ $r = 2 ] && echo false || echo true)"
done
prony compare a b
prony summary a -o a.json
prony compare a.json b --format csv | tr -d '\r'
prony compare a b --fail-if failed >/dev/null
