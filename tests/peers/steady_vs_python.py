#!/usr/bin/python3
"""Slices of rates against milarun's RateLogger, and the steady state against
numpy: the same formulas, written again from docs/measures.md with whole arrays.

Usage: steady_vs_python.py STEADY_TOOL

milarun's vectors are looked for in $PRONY_PEERS, else in ../shared/peers beside
the project ($SRC). They have to come out to the last digit. Where milarun dies
of a division by zero the slices so far have to be the same. Exit status 1 after
a difference, 77 without numpy or the vectors.
"""
import json
import math
import os
import random
import subprocess
import sys

import _tap

try:
    import numpy as np
except ImportError:
    print("SKIP: no numpy; install python3-numpy")
    sys.exit(77)

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
VECTORS = os.path.join(os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers"), "milarun",
    "ratelogger_vectors.json")


def ask(tool, lines):
    """A dictionary for each line; "rate" has all of them."""
    text = "".join(line + "\n" for line in lines)
    got = subprocess.run([tool], input=text, stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    answers = []
    for line in got.splitlines():
        words = line.split()
        answer = {"rate": []}
        for name, number in zip(words[::2], map(float, words[1::2])):
            if name == "rate":
                answer["rate"].append(number)
            else:
                answer[name] = number
        answers.append(answer)
    return answers


def line_of(kind, numbers):
    return " ".join([kind] + [repr(float(x)) for x in numbers])


# ---- slices


def check_slices(tool):
    with open(VECTORS, encoding="utf-8") as f:
        vectors = json.load(f)
    answers = ask(tool, [line_of("slices", [v["sample_duration"]] + sum(
        v["events"], [])) for v in vectors])
    for v, got in zip(vectors, answers):
        full = int(got["full"])
        same = got["rate"][:full] == v["rates_before_finalize"]
        for name in ("carry_time", "carry_count", "total_time", "total_count"):
            same = same and got[name] == v[name]
        if v["error"] is None:
            same = same and got["rate"] == v["rates_after_finalize"]
        _tap.check(same, "slices: %s" % v["name"],
                   "%s\n%s" % (got, {k: v[k] for k in v if k != "events"}))


# ---- the steady state


def by_time(rates, each, last):
    """As a sum over thin pieces of time would have it."""
    ends = np.cumsum([each] * (len(rates) - 1) + [last])
    starts = ends - np.array([each] * (len(rates) - 1) + [last])
    low, high = max(0.0, ends[-1] - 10), ends[-1] - 1
    weight = np.clip(np.minimum(ends, high) - np.maximum(starts, low), 0, None)
    total = weight.sum()
    return float((weight * rates).sum() / total) if total > 0 else math.nan


def warmup(v):
    n = len(v)
    if n < 8:
        return 0, False
    batch = 5 if n >= 50 else 1
    k = n // batch
    y = np.asarray(v)[n - k * batch:].reshape(k, batch).mean(axis=1)
    unsure = [((y[d:] - y[d:].mean()) ** 2).sum() / (k - d) ** 2
              for d in range(k // 2 + 1)]
    d = next(d for d, z in enumerate(unsure) if z <= 1.25 * min(unsure))
    return (n - (k - d) * batch if d else 0), 3 * d <= k


def correlation(v):
    n, x = len(v), np.asarray(v) - np.mean(v)
    if n < 2 or not (x * x).mean() > 0:
        return 1.0
    gamma = [(x[k:] * x[:n - k]).sum() / n for k in range(n)] + [0.0]
    total, before = 0.0, math.inf
    for lag in range(0, n - 1, 2):
        pair = gamma[lag] + gamma[lag + 1]
        if not pair > 0:
            break
        before = min(before, pair)
        total += before
    return max(1.0, 2 * total / gamma[0] - 1)


def chance_above(t, freedom):
    """Student's t by integrating its density."""
    front = math.exp(math.lgamma((freedom + 1) / 2) -
                     math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    x = np.linspace(0, t, 200001)
    y = front * (1 + x * x / freedom) ** (-(freedom + 1) / 2)
    return 0.5 - float(((y[1:] + y[:-1]) / 2 * np.diff(x)).sum())


def steady(rates, each, total):
    n = len(rates)
    left = total - (n - 1) * each
    last = left if 0 < left < each else each
    want = {"index_rate": float(np.mean(rates[-20:-2])) if n > 2 else math.nan,
            "time_rate": by_time(np.asarray(rates), each, last)}
    whole = rates[:-1] if last < each * (1 - 1e-9) else rates
    skip, settled = warmup(whole)
    v = whole[skip:]
    want.update(warmup=skip, settled=settled, warmup_s=skip * each,
                count=len(v))
    if v:
        want.update(mean=np.mean(v), std=np.std(v), min=min(v), max=max(v),
                    correlation=correlation(v),
                    **{"p%d" % p: np.percentile(v, p) for p in (5, 50, 95)})
    if len(v) > 1:
        want["sem"] = (np.std(v, ddof=1) *
                       math.sqrt(correlation(v) / len(v)))
    return want


def series():
    rng = random.Random(20200612)
    noise = lambda n, s: [100 + rng.gauss(0, s) for _ in range(n)]
    yield "one slice", [50.0]
    yield "two slices", [50.0, 60.0]
    yield "three slices", [50.0, 60.0, 70.0]
    yield "short", noise(9, 1)
    for n in (19, 20, 21, 49, 50, 53, 120, 1000):
        yield "noise of %d" % n, noise(n, 2)
        yield "a warm-up in %d" % n, [
            x * (1 - 0.6 * math.exp(-i / (n / 12)))
            for i, x in enumerate(noise(n, 1))]
        yield "a drift in %d" % n, [
            x + i / 3 for i, x in enumerate(noise(n, 1))]
        walk, x = [], 0.0
        for y in noise(n, 1):
            x = 0.9 * x + y - 100
            walk.append(100 + x)
        yield "correlated, %d" % n, walk
        yield "back and forth, %d" % n, [
            x + (5 if i % 2 else -5) for i, x in enumerate(noise(n, 1))]
        yield "steps of seven, %d" % n, [
            x for x in noise(n // 7 + 1, 2) for _ in range(7)][:n]


def near(a, b):
    return (math.isnan(a) and math.isnan(b)) or \
        abs(a - b) <= 1e-9 * (1 + abs(b))


def check_interval(name, got, want):
    """The interval is that of Student's t, which both sides must leave with
    a chance of 2.5 %."""
    half = (got["high"] - got["low"]) / 2
    freedom = max(1.0, want["count"] / want["correlation"] - 1)
    above = chance_above(half / got["sem"], freedom)
    _tap.check(abs(above - 0.025) < 1e-6 and
               near((got["high"] + got["low"]) / 2, got["mean"]),
               "interval: %s" % name, "chance %r" % above)


def check_steady(tool):
    cases = [(name, rates, each, total)
             for name, rates in series()
             for each, total in ((0.5, 0.5 * len(rates)),
                                 (0.5, 0.5 * len(rates) - 0.2),
                                 (0.3, 0.3 * len(rates) - 0.29))]
    answers = ask(tool, [line_of("steady", [c[2], c[3]] + c[1])
                         for c in cases])
    for (name, rates, each, total), got in zip(cases, answers):
        name = "%s, %g s of %g" % (name, total, each)
        want = steady(rates, each, total)
        wrong = [k for k in want if not near(got[k], float(want[k]))]
        exact = "index_rate" not in wrong and (
            len(rates) < 3 or got["index_rate"] == want["index_rate"])
        _tap.check(not wrong and exact, "steady: %s" % name,
                   "\n".join("%s: %r, not %r" % (k, got[k], want[k])
                             for k in wrong) or "index_rate to the last digit")
        if want.get("sem", 0) > 0:
            check_interval(name, got, want)


def main():
    if not os.path.isfile(VECTORS):
        print("SKIP: no reference data of other tools; PRONY_PEERS=FOLDER "
              "says where they are")
        return 77
    check_slices(sys.argv[1])
    check_steady(sys.argv[1])
    return _tap.end()


if __name__ == "__main__":
    sys.exit(main())
