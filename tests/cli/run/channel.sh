# A child says figures, rates and progress on a descriptor, its children too;
# what cannot be read is a warning; each attempt has a channel of its own.
# tags: valgrind
cat > child.sh <<'END'
echo "__results.time__= 7"
echo "__results.log__= true"
for i in 1 2 3; do
    echo "{\"task\": \"train\", \"units\": \"images/s\", \"rate\": $((100 * i))}" >&$PRONY_FD
    echo "{\"progress\": [$i, 3]}" >&$DATA_FD
done
sh -c 'echo "{\"time\": 1.5, \"exp.model_title\": \"Mine\"}" >&3'
echo '{"task": "main", "gpudata": {"0": {"load": 1}}}' >> "$PRONY_CHANNEL"
echo '{"again": [1,' >&3
test ! -e once || exit 0
touch once
echo '{"first": true}' >&3
exit 1
END
prony run -q -o out --retry 1 --format json -P exp.command="sh child.sh" |
    python3 -c 'import json, sys
e = json.load(sys.stdin)["experiments"][0]
r = e["results"]
print(e["status"], e["attempts"], [w.partition(", the first")[0] for w in e["warnings"]])
print({k: v for k, v in r.items() if k[-2:] != "_s" and k != "max_rss_bytes"})
print(json.dumps(e["rates"]))'
prony run -q -o none -P exp.command=true > /dev/null
(cd out/experiments/0001* && ls channel*)
ls none/experiments/0001* | grep channel || echo "no channel without a line"
cat > loud.sh <<'END'
for i in 1 2 3; do echo '{"warning": "mind the gap", "rate": 1e308}' >&3; done
END
prony run -q -o loud -P exp.command="sh loud.sh" |
    sed -n -e 's/.* 1.000e+308$/a huge rate/p' -e /warning:/p
