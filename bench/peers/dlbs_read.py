"""dlbs_read.py logs FOLDER | weak FILE: what DLBS's programs do with logs and
with a file of results, as its documents say: every line is matched with an
expression, every value is JSON, every result is kept; a table of times by
network, batch and devices is printed with what follows from it. With a
checkout of DLBS in $PRONY_DLBS its own programs do it."""

import json
import os
import re
import sys

LINE = re.compile(r"[ \t]*__(.+?(?=__[ \t]*[=]))__[ \t]*=(.+)")


def parse(path):
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = LINE.match(line)
            if m:
                found[m.group(1).strip()] = json.loads(m.group(2))
    return found


def logs(folder):
    found = [parse(os.path.join(folder, name)) for name in os.listdir(folder)
             if name.endswith(".log")]
    json.dump({"data": [r for r in found if r["results.throughput"] > 0]},
              sys.stdout, indent=4)


def table(title, rows, places):
    print(title)
    for net, batch, values in rows:
        print("%-20s %-10s" % (net, batch) + "".join(
            " " + (places % v if v >= 0 else "-").ljust(10) for v in values))


def weak(path):
    with open(path, encoding="utf-8") as f:
        data = json.load(f)["data"]
    times, nets, batches, devices = {}, set(), set(), set()
    for r in data:
        net, gpus = r["exp.model_title"], r["exp.gpus"]
        batch = int(r["exp.effective_batch"])
        times["%s_%s_%s" % (net, gpus, batch)] = float(r["results.time"])
        nets.add(net)
        batches.add(batch)
        devices.add(gpus)
    devices = sorted(devices, key=len)
    counts = [1 + d.count(",") for d in devices]
    rows = []
    for net in sorted(nets):
        for batch in sorted(batches):
            row = [times.get("%s_%s_%s" % (net, d, batch * n), -1)
                   for d, n in zip(devices, counts)]
            if row[0] > 0:
                rows.append((net, batch, row))
    rates = [(net, b, [int(n * b * 1000 / t) if t > 0 else -1
                       for n, t in zip(counts, row)]) for net, b, row in rows]
    table("time", rows, "%.2f")
    table("rate", rates, "%d")
    table("speed-up", [(net, b, [r / row[0] if r > 0 else -1 for r in row])
                       for net, b, row in rates], "%.2f")
    table("efficiency", [(net, b, [int(10000 * row[0] / t) / 100
                                   if t > 0 else -1 for t in row])
                         for net, b, row in rows], "%.2f")


def real(root, what, path):
    """Never returns."""
    words = {"logs": ["logparser.py", path, "--output_file",
                      os.path.join(path, "dlbs.json"), "--overwrite"],
             "weak": ["reports/summary_builder.py", "--summary_file", path,
                      "--type", "weak-scaling", "--target_variable",
                      "results.time"]}[what]
    os.environ["PYTHONPATH"] = os.path.join(root, "python")
    words[0] = os.path.join(root, "python/dlbs", words[0])
    os.execv(sys.executable, [sys.executable, *words])


if os.environ.get("PRONY_DLBS"):
    real(os.environ["PRONY_DLBS"], sys.argv[1], sys.argv[2])
{"logs": logs, "weak": weak}[sys.argv[1]](sys.argv[2])
