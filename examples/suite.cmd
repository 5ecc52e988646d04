# run: prony run examples/suite.json --devices 2 -o out
# exit: 0
