prony run -q "$SRC/examples/hello.yaml" > /dev/null
