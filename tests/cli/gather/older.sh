# Tables of 2022: older lines, a divisor that is a little more than the number
# of logs, and systems of a list of one's own.
mkdir -p r/V100/PyTorch_SSD_FP32 r/V100/PyTorch_SSD_AMP
log() { mkdir -p "r/$1/PyTorch_$2"; cat >"r/$1/PyTorch_$2/1.txt"; }
echo 'Training performance = 136.7522430419922 FPS' | log V100 SSD_FP32
echo 'DLL x - Summary: train.loss : 7.24029  train.total_ips : 368.66 img/s' | log V100 resnet50_FP32
echo 'Training perf is: 10.153659 FPS' | log V100 maskrcnn_FP32
printf '0: Performance: Epoch: 1\tTraining: 22744 Tok/s\tValidation: 58461 Tok/s\nDONE!\n' | log V100 gnmt_FP32
echo ':::NVLOGv0.2.2 Tacotron2_PyT x train_epoch_avg_items/sec: 17604.70810537515' | log V100 tacotron2_FP32
echo ' training throughput: 42.3873' | log V100 bert_base_squad_FP32
echo 'Training throughput: 6518.26 tok/s' | log V100 transformerxlbase_FP32
echo 'DLL x - () train_items_per_sec : 29822.185585698007 ' | log A40 tacotron2_FP32
echo 'DLL x -  e2e_train_time : 5.0  training_sequences_per_second : 60.63  final_loss : 5.9 ' | log A40 bert_large_squad_FP32
cat >mine.yaml <<'END'
systems:
  - {folder: V100, name: V100 32GB, gpus: 1, watt: 250, price: 11357, dialect: g1, rules: old}
  - {folder: A40, name: A40, gpus: 2, watt: 300, price: 4500.5, dialect: g1, rules: mid}
END
prony gather r --systems mine.yaml
prony gather r --systems mine.yaml --dialect g1 --precision fp16
prony gather r --systems mine.yaml --system A40 --format text
prony gather r --systems mine.yaml -o out.csv --system multiple
cat out.csv
