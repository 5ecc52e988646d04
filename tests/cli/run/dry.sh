prony run --dry-run -P exp.command=true -V n='[1, 2]'
