# tags: valgrind
# Results of a GPU system are a suite: scored, compared, summed up. Of several
# systems one is picked, by its name or its folder.
log() { # SYSTEM TASK FILE LINE
    mkdir -p "$1/PyTorch_$2"
    printf '%s\nDONE!\n' "$4" >"$1/PyTorch_$2/$3.txt"
}
words() { printf '0: Performance: Epoch: 0\tTraining: %s Tok/s\n' "$1"; }
speech() { echo "DLL day time - () train_items_per_sec : $1 items/s"; }
log r/a gnmt_FP32 1 "$(words 22000)"
log r/a gnmt_FP32 2 "$(words 23000)"
log r/a gnmt_FP32 3 'RuntimeError: CUDA out of memory.'
log r/a tacotron2_FP16 1 "$(speech 400)"
mkdir -p r/a/PyTorch_SSD_FP32 # never ran
echo '{"PyTorch_gnmt_FP32": {"weight": 2}, "PyTorch_tacotron2_FP16": 1, "PyTorch_SSD_FP32": 1}' >w.json
prony report r --weights w.json
prony report r --weights w.json --strict -q >out && exit 99
echo "strict: $?"
echo == one of several, beside another
log r/b gnmt_FP32 1 "$(words 45000)"
log r/b tacotron2_FP16 1 "$(speech 200)"
prony report r --system b --weights w.json --compare r/a --price 9000 -q
prony summary r/a -o a.json
prony report r/b --weights w.json --compare a.json --format json -q | grep -E '"(score|ratio|from)"'
echo == without options the full table
prony report r --format csv | cut -d, -f1-8
prony report r/b -q
echo == errors
try() { prony report "$@" && echo "no error: $*" || echo "status $?"; }
try r --weights w.json
try r --system c
try r/a --weights w.json --compare r
try w.json --system a
echo == doubted
log r/b ncf_FP16 1 'DLL day time - () best_train_throughput : 2.1e10 samples/s'
prony report r/b --weights w.json
