# What a launcher says of itself: skipped, failure, nothing.
cat > be.sh <<'END'
#!/bin/sh
unknown_params_action=set
. "$DLBS_ROOT/scripts/parse_options.sh"
. "$DLBS_ROOT/scripts/utils.sh"
case $mine_say in
skipped) report_and_exit skipped "batch \"$exp_replica_batch\" is too large" "$exp_log_file" ;;
failure) echo '__exp.status__= "failure"' >> "$exp_log_file" ;;
exit) exit 4 ;;
esac
END
chmod +x be.sh
prony run -q -o out -P exp.framework=mine -P mine.launcher=./be.sh \
    -V mine.say='["skipped", "failure", "exit", "nothing"]' > /dev/null || echo "status $?"
for f in out/experiments/*/result.json; do
    sed -n -e '/"status"/p' -e '/"reason"/p' "$f"
done
