# Files are made as trials need them, and what is there is used.
set="exp.workload=emulate dataset.format=npy dataset.record_length_bytes=1000 \
    dataset.num_files_train=4 train.computation_time=0.01 --au 0.01 --steps 4"
prony capacity $set -o none --no-generate || echo "status $?"
prony capacity $set -o made --max 1 -q > out.txt
ls data/train | wc -l
prony capacity $set -o grown --max 8 -q > out.txt
test "$(ls data/train | wc -l)" -ge 56
prony capacity $set -o short --max 20 --no-generate -q > out.txt
# How many trials go as far as they do depends on what else the machine does.
grep '^Note' out.txt | sed 's/^Note: [0-9]* files/Note: N files/'
grep -h epochs short/trials/*-a20-r1/experiments/*/params.json | tr , '\n' |
    grep -E '"(train.epochs|emulate.drop_cache)"'
# Data of another shape is not measured as if it were this.
prony capacity $set dataset.record_length_bytes=2000 -o other || echo "status $?"
# As many as were announced, those to evaluate with included.
prony capacity $set dataset.data_folder=both dataset.num_files_eval=3 \
    -o both_out --max 1 2> err.txt > out.txt
grep -o '^both: [0-9]* files [am][a-z]*' err.txt | head -2
