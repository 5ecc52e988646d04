prony plan "$SRC/examples/groups.yaml" --repeat 2 --name small,large --format json |
    python3 -c 'import json, sys; print([(e["id"][:4], e["repeat"], e["params"]["exp.name"]) for e in json.load(sys.stdin)["experiments"]])'
