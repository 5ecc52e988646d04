# GPUs of a made-up library: there, one of them lost, none.
test -e "$FAKE_NVML" || { echo "no $FAKE_NVML; ninja tests/fake_nvml.so"; exit 77; }
export PRONY_NVML="$FAKE_NVML"
show() { grep "^GPU" | tr -s ' '; }
prony doctor | show
FAKE_NVML_LOST=1:0:99 prony doctor | show
FAKE_NVML_INIT=9 prony doctor | show
prony doctor --format json | python3 -c 'import json, sys
env = json.load(sys.stdin)["env"]
print(env["nvml"])
for g in env["gpus"]:
    print(g["index"], g["model"], g["pci"], g["memory_bytes"], g.get("mig"))'
FAKE_NVML_NAME="$(printf 'a "\\\n\033[31mname\377')" prony doctor | show
