# Strong scaling and exploration; processors, nodes, repeats.
row() { # GPUS REPLICAS BATCH TIME
    printf '{"exp.model_title": "Net", "exp.gpus": "%s", "exp.num_replicas": %s,
"exp.effective_batch": %s, "results.time": %s}' "$1" "$2" "$3" "$4"
}
{
    echo "[$(row "" 1 64 400), $(row "" 2 64 220), $(row "" 2 64 224),"
    echo "$(row "" 4 64 130), $(row "" 4 32 70), $(row 0:1 1 64 99.9995)]"
} >in.json
prony scaling in.json --type strong-scaling --query '{"exp.gpus": ""}'
prony scaling in.json --type exploration
prony scaling in.json --type exploration --format json --query '{"exp.gpus": "0"}'
