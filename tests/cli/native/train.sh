# A network is trained on noise: the table, the verdict, what the log says.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony run exp.framework=native exp.model=lenet exp.replica_batch=4 exp.num_batches=3 -o out > said
# Who may disturb us is not what is looked at.
sed '/^warning: .*other programs took the rest$/d; s/; 1 with warnings$//' said
cat out/experiments/*/log.txt
