# tags: valgrind
# A line of each rule of each age, made here; the last one that has a number in
# its place counts, whatever stands around it.
log() { # SYSTEM TASK NAME, lines from stdin
    mkdir -p "r/$1/PyTorch_$2"
    cat >"r/$1/PyTorch_$2/$3.txt"
}
para() { printf 'GLOBAL_BATCH %s\nGPU %s\n' "$3" "$4" >"r/$1/PyTorch_$2/benchmark.para"; }
s=3090_v1
{ printf 'Done benchmarking. Total images: 16000\ttotal time: 110.604\tAverage images/sec: 144.660\tMedian images/sec: 144.631\nTraining performance = 144.66 FPS\nDONE!\n'; } | log $s SSD_FP32 a
para $s SSD_FP32 80 1
echo 'DLL 2026-01-02 10:58:54.300289 - Summary: train.loss : 4.43999 None train.compute_ips : 905.44 images/s train.total_ips : 905.05 images/s' | log $s resnet50_FP32 a
# Two runs: 22744 and 22746.
printf '0: Performance: Epoch: 0\tTraining: 9 Tok/s\tValidation: 8 Tok/s\n0: Performance: Epoch: 1\tTraining: 22744 Tok/s\tValidation: 58461 Tok/s\nDONE!\n' | log $s gnmt_FP32 a
printf '0: Performance: Epoch: 0\tTraining: 22746 Tok/s\nDONE!\n' | log $s gnmt_FP32 b
echo 'DLL 2026-01-02 22:55:54.270633 - () best_train_throughput : 14714953.928735057 samples/s best_eval_throughput : 1.0 samples/s' | log $s ncf_FP32 a
echo 'Training throughput: 12101.26 tok/s' | log $s transformerxlbase_FP32 a
printf 'DLL 2026-01-02 23:22:15.805585 - (1, 6) train_items_per_sec : 7.5 items/s\nDLL 2026-01-02 23:22:15.805585 - () train_items_per_sec : 25350.419276205655 items/s\r50%%\rDONE!\n' | log $s tacotron2_FP32 a
# A line that has the text and no number there changes nothing.
printf 'DLL x - () train_items_per_sec : 77.9 items/s\nDLL x - () train_items_per_sec : many items/s\nDONE!\n' | log $s waveglow_FP32 a
echo 'DLL 2026-01-02 23:17:04.865728 -  e2e_train_time : 56.02  training_sequences_per_second : 85.68310497744616  final_loss : 5.918 ' | log $s bert_base_squad_FP32 a
# Failed, whatever it says in the end; empty; not a number above zero.
printf 'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate\nDONE!\n' | log $s bert_large_squad_FP32 a
: | log $s transformerxllarge_FP32 a
printf 'Training throughput: 0 tok/s\nDONE!\n' | log $s transformerxllarge_FP32 b
prony gather r --system "RTX 3090" --precision fp32
prony gather r --system 3090_v1 --precision fp32 --metric bs
prony gather r --system 3090_v1 --precision fp16 --dialect v1 | tail -1
echo "== v2"
mkdir r/other_v2
prony gather r --dialect v2
echo "== full"
prony gather r --format text --precision fp32
prony gather r --format json --system 3090_v1 | head -20
