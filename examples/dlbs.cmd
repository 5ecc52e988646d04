# run: prony run examples/dlbs.json -o out
