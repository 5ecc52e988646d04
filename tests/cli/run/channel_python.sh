# The Python module: says what it is told, also from a subprocess, which does
# not inherit the descriptor; and nothing when nobody listens.
export PYTHONPATH="$SRC/python" PYTHONDONTWRITEBYTECODE=1
cat > child.py <<'END'
import subprocess, sys
from prony import channel


class Number:
    def item(self):
        return 4


for i in range(3):
    channel.rate(100 + i, "images/s", 'my "task"')
    channel.progress(i + 1, 3, "step %d" % i)
channel.progress(0.5)
channel.rate(float("nan"))
channel.rate(7)
channel.say(time=1.5, text="caf\u00e9\n", list=[1, None, True], number=Number())
channel.say({"exp.title": "x", "loss": 0.25}, loss=0.125)
channel.say()
channel.warn("mind the gap")
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "again"])
else:
    channel.say(inner=True)
END
python3 child.py
prony run -q -o out --format json -P exp.command="python3 child.py" |
    python3 -c 'import json, sys
e = json.load(sys.stdin)["experiments"][0]
print(e["status"], [w.partition(", the first")[0] for w in e["warnings"]])
timing = e["results"].pop("timings.train")
print(set(timing["rates"]), timing["wall_time"] > 0)
print({k: v for k, v in e["results"].items() if k[-2:] != "_s" and k != "max_rss_bytes"})
print({k: (v["count"], v["mean"], v.get("units")) for k, v in e["rates"].items()})'
head -n 2 out/experiments/0001*/channel.ndjson | sed 's/"time": [0-9]*\.[0-9]*,/"time": T,/'
