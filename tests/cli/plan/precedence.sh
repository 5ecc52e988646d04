# Weakest first: default, target, --config, environment, command line, -V, -E.
echo '{"parameters": {"x.a": "target", "x.b": "target", "x.c": "target", "x.d": "target", "x.e": "target"}}' > t.json
echo '{"parameters": {"x.b": "config", "x.c": "config", "x.d": "config", "x.e": "config"}}' > c.json
export PRONY_X_C=environment PRONY_X_D=environment PRONY_X_E=environment
prony plan --no-defaults t.json --config c.json -P x.d=-P x.e=override -V x.f='["variable"]' \
    -E '{"condition": {"x.f": "var.*"}, "parameters": {"x.f": "extension"}}' --format json
