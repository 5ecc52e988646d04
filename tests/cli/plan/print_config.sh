prony print-config --no-defaults "$SRC/examples/dlbs.json" -E '{"parameters": {"a": 1}}' -P exp.model='"x"'
