prony run -q -P exp.command=true -V n='[1, 2, 3]' -o out > /dev/null
rm out/experiments/0002-*/result.json
for f in out/experiments/0003-*/result.json; do echo '{"half' > "$f"; done
prony report out
# No page says that all is well then, and no report of a suite is silent.
rm out/experiments/0003-*/result.json
prony report out --html page.html > /dev/null
grep -c UNFINISHED page.html
grep -c PASS page.html || true
# What is not to be run is no failure.
prony run -q -P exp.command=true -V exp.status='["", "disabled"]' -o part > /dev/null
prony report part --html page.html > /dev/null
grep -o 'chip [a-z]*">[A-Z]*</span> [^.]*' page.html
sed -n '/id="failures"/,/section>/p' page.html
grep -o '<td class="[a-z ]*">[a-z]*ed</td>' page.html
cat > two.json << END
{"a": {"experiment": "command", "command": "true"},
 "b": {"experiment": "command", "command": "true"}}
END
prony run -q two.json -o suite --no-isolation > /dev/null
prony report suite > /dev/null
rm suite/experiments/0002-*/result.json suite/two.b.*
prony report suite
prony summary suite > /dev/null
prony report suite -q --html suite.html > /dev/null
grep -c UNFINISHED suite.html
grep -c PASS suite.html || true
grep -o 'The run was interrupted[^<]*' suite.html
prony report suite -q --format json | grep -A4 -E '"run"|"pass"' | head -12
prony report out --format json | grep -A4 '"run"'
# Interrupted ones are no failures of theirs, and are missing.
sed -i 's/"status": *"ok"/"status": "interrupted"/' out/events.ndjson
prony report out -q --html page.html > /dev/null
grep -c 'chip ">UNFINISHED' page.html
