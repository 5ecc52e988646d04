# Earlier attempts keep their logs and are counted, also over a resume.
cat > try.sh << 'END'
n=$(cat n 2> /dev/null || echo 0)
n=$((n + 1))
echo $n > n
echo "try $n"
test $n -ge 3
END
prony run -q -P exp.command='sh try.sh' -P exp.log_file=copy.log -o out > /dev/null || echo "first: $?"
prony run -q --resume out --retry 1 > /dev/null
cd out/experiments/0001-*
cat log.txt.1 log.txt.2 log.txt
grep -o '"attempts": [0-9]*' result.json
grep -c experiment_end ../../events.ndjson
cat ../../../copy.log
