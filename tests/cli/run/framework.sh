prony run -P exp.framework=tensorflow -o out
