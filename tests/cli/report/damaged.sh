# tags: valgrind
# A suite's views of a run that is not finished, or whose results are damaged;
# links and pipes in it are named, and not followed.
prony run -q -P exp.command='"sh -c \"echo __results.throughput__= ${n}0\""' \
    -P exp.name='"a"' -V n='[1, 2, 3, 4]' -o out >/dev/null
rm out/experiments/0002-*/result.json
for f in out/experiments/0003-*/result.json; do echo '{"half' >"$f"; done
for f in out/experiments/0004-*/result.json; do rm "$f" && mkfifo "$f"; done
prony summary out -o s.json
prony report out -q --weights '{"a.1": {"weight": 1}}' | head -4
prony report out -q --compare-gpus | head -3
# One run has no spread.
prony report out -q --compare-gpus --html page.html >/dev/null
grep -c -e '±' -e 'Runs differ' page.html || true
grep -o 'a second, one run' page.html
# What a link leads to is nobody's business.
prony run -q -P exp.command=false -o failed >/dev/null 2>&1 || true
echo 'a secret' >secret.txt
for f in failed/experiments/*/log.txt; do ln -sf "$PWD/secret.txt" "$f"; done
prony report failed -q --html page.html >/dev/null
grep -c 'a secret' page.html || true
for f in failed/experiments/*/result.json; do
    mv "$f" r.json && ln -s "$PWD/r.json" "$f"
done
prony summary failed -o s.json
