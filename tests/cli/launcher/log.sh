# The log of a launcher: DLBS's head, what it appended, then what counts of it.
# One that dies before it writes there has its last words in the result.
# tags: valgrind
cat > be.sh <<'END'
#!/bin/sh
unknown_params_action=set
. "$DLBS_ROOT/scripts/parse_options.sh"
echo "printed for $exp_model"
echo "__exp.model_title__= \"ResNet50\"" >> "$exp_log_file"
echo "__results.time__= $exp_replica_batch.5" >> "$exp_log_file"
END
chmod +x be.sh
prony run -q -o out --no-defaults -P exp.framework=mine -P mine.launcher=./be.sh \
    -P exp.model=resnet50 -V exp.replica_batch='[8, 16]' -P my.list='[1, "a"]' \
    -P exp.log_file='"logs/${exp.model}_${exp.replica_batch}.log"' > /dev/null
cat logs/resnet50_8.log
echo "==== log.txt"
sed -n -e "s,\[.*\],[...]," -e "1p;12,\$p" out/experiments/0001-*/log.txt
echo "==== results"
for n in 1 2; do
    sed -n 's/.*"exit_status": 0, \(.*\)},$/\1/p' out/experiments/000$n-*/result.json
done
echo "==== dies"
printf '#!/bin/sh\necho starting\nno_such_program 2>&1\nexit 3\n' > be.sh
prony run -q -o dies -P exp.framework=mine -P mine.launcher=./be.sh \
    -P exp.log_file=logs/dies.log > /dev/null || echo "status $?"
sed -n 's/.*framework launcher.\\n-*\(.*\)",$/\1/p' dies/experiments/*/result.json
