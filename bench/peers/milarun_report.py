"""milarun_report.py FOLDER WEIGHTS HTML: what milarun's report does with a
folder of results, as its documents say: every file is JSON, the rates are
numpy's, the table is pandas', printed as text and styled as HTML. A stand-in
that is leaner than milarun: it imports no more than it needs."""

import collections
import json
import math
import os
import sys

FORMATS = {"weight": "{:4.2f}", "n": "{:.0f}", "fail": "{:.0f}",
           "perf": "{:10.2f}", "std%": "{:6.1%}", "perf_adj": "{:10.2f}"}


def results(folder):
    found = collections.defaultdict(list)
    for root, _, names in os.walk(folder):
        for name in names:
            if not name.endswith(".json"):
                continue
            with open(os.path.join(root, name), encoding="utf-8") as f:
                r = json.load(f)
            if r.get("job_id") is not None:
                found[r["name"]].append(r)
    return found


def stats(np, values):
    return {"n": len(values), "min": float(np.min(values)),
            "max": float(np.max(values)), "mean": float(np.mean(values)),
            "std": float(np.std(values))}


def summary(np, runs):
    good = [r for r in runs if r["success"] and not any(
        math.isnan(m) for m in r["metrics"].values())]
    rates, devices, peak = [], collections.defaultdict(list), 0
    for r in good:
        mean = np.mean(r["timings"]["train"]["rates"][-20:-2])
        device = r["environ"]["CUDA_VISIBLE_DEVICES"]
        rates.append(mean)
        devices[int(device)].append(mean)
        peak = max(peak, r["gpu_monitor"][device]["memory"]["max"])
    return {"n": len(runs), "failures": len(runs) - len(good),
            "total": stats(np, [r["timings"]["program"]["time"]
                                for r in good]),
            "train": stats(np, rates),
            "pergpu": {d: stats(np, v) for d, v in devices.items()},
            "peak_memory": peak}


def main(args):
    import numpy as np
    import pandas as pd
    tests = {name: summary(np, runs)
             for name, runs in sorted(results(args[0]).items())}
    with open(args[1], encoding="utf-8") as f:
        weights = json.load(f)
    rows = {}
    for name in sorted({*tests, *weights}):
        t = tests[name]
        rows[name] = {"weight": weights[name]["weight"], "n": t["n"],
                      "fail": t["failures"], "perf": t["train"]["mean"],
                      "std%": t["train"]["std"] / t["train"]["mean"],
                      "perf_adj": (1 - t["failures"] / t["n"]) *
                      t["train"]["mean"]}
    table = pd.DataFrame(rows).transpose()
    formats = {k: v.format for k, v in FORMATS.items()}
    print(table.to_string(formatters=formats))
    print("Score: %10.2f" % np.exp(
        np.sum(np.log(table["perf_adj"]) * table["weight"]) /
        np.sum(table["weight"])))
    try:
        page = table.style.format(formats).to_html()
    except ImportError:  # no jinja2: less work than milarun has
        page = table.to_html(formatters=formats)
    with open(args[2], "w", encoding="utf-8") as f:
        f.write(page)


main(sys.argv[1:])
