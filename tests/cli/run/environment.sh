prony run -q -o out -d /data -P runtime.env.A=5 -P runtime.launcher='"B=6 env"' \
    -P exp.command='["sh", "-c", "echo $A $B $PRONY_DATA $PRONY_EXPERIMENT"]' > /dev/null
cat out/experiments/*/log.txt
