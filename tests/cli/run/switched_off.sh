prony run -q -P exp.command='"echo hi"' -V exp.status='["disabled", "simulate", "ok"]' -o out
cat out/experiments/*/log.txt
