# Parameters of frameworks: weaker than what is set, not part of the id, and of
# the experiment's own framework alone, whoever names it.
plan() { prony plan --format json "$@" | sed 1d | grep -o '"id": "[^"]*"\|"[a-z_]*caffe[^,]*\|"mxnet[^,}]*\|"exp.framework[^,]*\|"exp.docker_image[^,]*'; }
plan -V exp.framework='["bvlc_caffe", "nvidia_caffe"]' -P exp.model=alexnet
plan -P exp.framework=mxnet -P mxnet.workspace=2 -P exp.framework_title=Mine
plan -P exp.framework=mxnet -P mxnet.workspace=2 -P exp.framework_title=Mine --no-defaults
echo ids
prony plan -P exp.framework=mxnet --format json | grep -o '"id": "[^"]*"'
mkdir none
PRONY_SHARE="$TMP" PRONY_FRAMEWORKS=none prony plan -P exp.framework=mxnet --format json | grep -o '"id": "[^"]*"'
echo extensions
plan -P exp.framework=native -E '{"condition": {"exp.model": "a"}, "parameters": {"exp.framework": "mxnet"}}' -V exp.model='["a", "b"]'
plan -P exp.framework=mxnet -E '{"condition": {"mxnet.kv_store": "device"}, "parameters": {"mxnet.kv_store": "nccl", "my.x": 1}}' | grep kv_store
plan -P exp.model=mxnet -E '{"condition": {"exp.model": "(.*)"}, "parameters": {"exp.framework": "${__condition.exp.model_0}"}}' | grep -c mxnet
plan -P exp.framework='${exp.model}' -P exp.model=mxnet
