#!/usr/bin/python3
"""Series of `prony plot` against DLBS's series_builder.

The program is $PRONY. The reference data are looked for in $PRONY_PEERS, else
in ../shared/peers beside the project ($SRC): a file of results, and the series
that DLBS made of it, which have to come out byte for byte. More series of the
same results are computed here, by DLBS's rules in a few lines of Python. Exit
status 1 after a difference, 77 when the reference data are not there.

Where we differ from DLBS on purpose: a baseline series may be number 0
(BUG-17), and xvals are in order.
"""
import itertools
import json
import os
import re
import subprocess
import sys

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.environ.get("PRONY") or os.path.join(SRC, "build", "prony")
PEERS = os.path.join(os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers"), "dlbs")
RESULTS = os.path.join(PEERS, "scaling_input.json")
GOLDEN = os.path.join(PEERS, "golden", "series_baseline.json")

SERIES = [
    [{"exp.framework": "mxnet"},
     {"exp.framework": "caffe2", "exp.effective_batch": 64}],
    [{"exp.framework": "caffe2"}, {"ecxp.framework": "mxnet"}],
    [{}],
    [{"exp.num_gpus": [1, 2]}, {"exp.num_gpus": 4}],
]
REDUCE = {"avg": lambda v: sum(v) / len(v), "min": min, "max": max}


def plot(x, series, how, *options):
    got = subprocess.run(
        [PRONY, "plot", RESULTS, "--xparam", x, "--yparam", "results.time",
         "--series", json.dumps(series), "--aggregation", how, *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if got.returncode:
        sys.exit("prony plot: %s" % got.stderr)
    return got.stdout


def matches(result, query):
    for name, want in query.items():
        value = result.get(name)
        if value is None:
            return False
        if isinstance(want, list):
            ok = value in want
        elif isinstance(want, str):
            ok = re.match(want, str(value)) is not None
        else:
            ok = value == want
        if not ok:
            return False
    return True


def divide(series, base_x, base_series):
    if base_x is not None and all(base_x in s for s in series):
        series = [{k: v / s[base_x] for k, v in s.items()} for s in series]
    if base_series is not None:
        base = series[base_series]
        if all(k in base for s in series for k in s):
            series = [{k: v / base[k] for k, v in s.items()} for s in series]
    return series


def expected(results, x, filters, how, base_x, base_series):
    series = []
    for query in filters:
        values = {}
        for r in results:
            if x in r and "results.time" in r and matches(r, query):
                values.setdefault(str(r[x]), []).append(r["results.time"])
        series.append({k: REDUCE[how](v) for k, v in values.items()})
    return divide(series, base_x, base_series)


def close(a, b):
    return a.keys() == b.keys() and all(
        abs(a[k] - b[k]) <= 1e-12 * abs(b[k]) for k in a)


def main():
    if not os.path.exists(GOLDEN) or not os.path.exists(RESULTS):
        print("SKIP: no reference data of other tools; PRONY_PEERS=FOLDER "
              "says where they are")
        return 77
    with open(GOLDEN, encoding="utf-8") as f:
        golden = f.read()
    ours = plot("exp.num_gpus", SERIES[0], "avg", "--baseline_xvalue", "1")
    wrong = int(ours != golden)
    if wrong:
        print("series_baseline.json: not the same bytes")
    with open(RESULTS, encoding="utf-8") as f:
        results = json.load(f)["data"]
    cases = itertools.product(
        ["exp.num_gpus", "exp.framework", "exp.replica_batch"], SERIES,
        sorted(REDUCE), [(None, None), ("1", None), (None, 0)])
    count = 1
    for x, filters, how, (base_x, base_series) in cases:
        want = expected(results, x, filters, how, base_x, base_series)
        if not any(want):
            continue
        options = ["--baseline-xvalue", base_x] if base_x else []
        if base_series is not None:
            options += ["--baseline-series", str(base_series)]
        got = json.loads(plot(x, filters, how, *options))
        data = [s["data"] for s in got["series"]]
        count += 1
        if not all(close(a, b) for a, b in zip(data, want)) or \
                [s["filters"] for s in got["series"]] != filters or \
                set(got["xvals"]) != set().union(*want):
            wrong += 1
            print("%s %s %s %s: %s, not %s" % (x, filters, how, options, data,
                                              want))
    print("%d series compared, %d wrong" % (count, wrong))
    return 1 if wrong else 0


sys.exit(main())
