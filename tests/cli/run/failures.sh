prony run "$SRC/examples/limits.yaml" -o out
