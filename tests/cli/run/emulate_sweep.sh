# How many accelerators does it feed: one experiment for each number. The data
# is made once.
prony run -q -o out default -V exp.accelerators='[1, 2, 4]' \
    ++workload.workflow.generate_data=True ++workload.train.epochs=1 \
    ++workload.train.computation_time=0.001 \
    ++workload.workflow.evaluation=False > /dev/null
grep -h '__results.accelerators__\|results.steps__\|results.samples__' \
    out/experiments/*/log.txt
grep -c generated_bytes__ out/experiments/*/log.txt | sed 's/-.*:/: /'
