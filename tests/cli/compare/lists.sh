# tags: valgrind
# Lists of results: tests by what varies, text, JSON, CSV, Markdown; rules.
row() { # MODEL REPEAT RATE
    printf '{"exp.model": "%s", "exp.repeat": %s, "exp.status": "ok",
"results.throughput": %s, "results.time_p99": 20%s}' "$@" "$2"
}
{
    echo "[$(row bert 1 90), $(row bert 2 91), $(row bert 3 89),"
    echo "$(row vgg 1 300), $(row vgg 2 301), $(row vgg 3 299)]"
} >a.json
{
    echo "[$(row bert 1 99.1), $(row bert 2 100), $(row bert 3 99),"
    echo "$(row vgg 1 300), $(row vgg 2 300.5), $(row vgg 3 300)]"
} >b.json
prony compare a.json b.json
prony compare a.json b.json --format csv | tr -d '\r'
prony compare a.json b.json --format md
prony compare a.json b.json --measure 'time*' --format json
prony compare a.json b.json a.json --fail-if slower && echo "no rule is broken"
prony compare b.json a.json --fail-if slower:20% >/dev/null && echo "nor is this"
prony compare b.json a.json --fail-if failed --fail-if slower:5% -q >/dev/null
