# One bad file is named and left out; names and logs cannot steer a terminal.
. "$SRC/tests/cli/suite/result.inc"
result s.a 0.0 0 100
result s.b 0.0 0 50 false
echo '[1]' > results/list.json
printf '{"name": "s.a", "job_id": "1.0", "success": tr' > results/cut.json
printf '{"name": "\\u001b[31m<b>&\\u202e", "job_id": "0", "success": true,
 "metrics": {}, "timings": {"train": {"rates": [7, 1, 1]}}}' > results/evil.json
printf '{"name": "s.short", "job_id": "0", "success": true, "metrics": {},
 "timings": {"train": {"rates": [7, 1]}}}' > results/short.json
# A line break in a name makes no line of its own.
printf '{"name": "s.\\nprony: all is well", "job_id": "0", "success": true,
 "metrics": {}, "timings": {"train": {"rates": []}}}' > results/lines.json
prony report results 2> err
sort err >&2
prony summary results -q | grep -A 3 u001b
prony report results -q --format md
