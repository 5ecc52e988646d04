prony run -q -P exp.command='"echo hi"' -P exp.log_file='"logs/deep/a.log"' -o out > /dev/null
cat logs/deep/a.log
prony run -q -P exp.command='"echo hi"' -P exp.log_file='"logs/deep/a.log"' -o again
