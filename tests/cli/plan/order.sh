# Overrides and -P count in the order given.
prony plan --no-defaults -P x=1 x=2 --format json | grep -o '"x": [0-9]'
prony plan --no-defaults x=2 -P x=1 --format json | grep -o '"x": [0-9]'
prony plan --no-defaults -P x=1_000_000 -P exp.framework_ver=1.10 --format json | grep -o '"[xe][^,}]*[,}]'
