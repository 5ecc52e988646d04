# Each must name its place, say what is wrong, and end with status 3.
try() { prony plan "$@" && exit 99; echo "status $?" >&2; }
printf 'exp:\n  modle: x\n' > typo.yaml
printf 'exp.model: x\nexp.dtype: flaot32\n' > choice.yaml
printf 'exp.model: [a\n' > broken.yaml
printf '{"parameters": {"a": 1,}\n' > broken.json
printf 'experiments:\n  - paramters: {}\n' > key.yaml
printf 'hello: world\n' > what.yaml
try typo.yaml
try choice.yaml
try broken.yaml
try broken.json
try key.yaml
try what.yaml
try -P exp.replica_batch=many
try -P exp.modle=x
try -P a='"${nowhere}"'
try -P a='"${b}"' -P b='"${a}"'
try -P a='"$(1/0)$"'
try -P a='"$(1"'
