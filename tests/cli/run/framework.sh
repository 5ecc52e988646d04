prony run -P exp.framework=mxnet -o out
