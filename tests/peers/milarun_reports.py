#!/usr/bin/python3
"""Suites: what milarun and milabench printed of them, byte for byte.

Usage: milarun_reports.py

The program is $PRONY, the reference data are in $PRONY_PEERS, else in
../shared/peers beside the project ($SRC); status 77 when they are not there.
Every file milarun/text/SUITE.BASELINE.VARIANT.txt is tried; a variant that is
not known here fails. One line of TAP for each.

Where we differ on purpose (docs/score.md):

  STDERR  beside the same stdout, we say which scores there are
  GPUS    milabench's comparison of devices dies; ours is printed
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from _tap import check, end

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.environ.get("PRONY") or os.path.join(SRC, "build", "prony")
PEERS = os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers")
MILARUN = os.path.join(PEERS, "milarun")
MILABENCH = os.path.join(PEERS, "milabench")
RESULTS = os.path.join(MILARUN, "results_dir")
WEIGHTS = os.path.join(MILARUN, "weights_tst.json")


def prony(*args, status=0):
    p = subprocess.run([PRONY, *args], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    if p.returncode != status:
        return b"status %d: " % p.returncode + p.stderr
    return p.stdout


def content(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def same(got, want, what):
    check(got == want, what, "got:\n%s\nwanted:\n%s" % (
        got.decode(errors="replace"), want.decode(errors="replace")))


def variant_args(suite, base, variant):
    """The options of milarun report; None: not known."""
    weights = ["--weights", os.path.join(MILARUN, "weights", suite + ".json")]
    compare = ["--compare",
               os.path.join(MILARUN, "baselines", suite, "rtx8000.json")]
    return {
        "plain": [],
        "weights": weights + ["--title", "baselines/%s/%s.json" % (suite,
                                                                   base)],
        "weights.penvar": weights + ["--penalize-variance"],
        "weights.price": weights + ["--price", "100000"],
        "vs-rtx8000.noweights": compare,
        "vs-rtx8000.weights": compare + weights,
        "vs-rtx8000.weights.penvar.price": compare + weights + [
            "--penalize-variance", "--price", "250000.5"],
        "compare-gpus.intkeys": ["--compare-gpus", "--title",
                                 "%s/%s" % (suite, base)],
    }.get(variant)


def baselines():
    for name in sorted(os.listdir(os.path.join(MILARUN, "text"))):
        if name.startswith(("results_dir.", "nan.")):
            continue
        suite, base, variant = re.fullmatch(r"([^.]*)\.([^.]*)\.(.*)\.txt",
                                            name).groups()
        args = variant_args(suite, base, variant)
        if args is None:
            check(False, "text/" + name, "a variant that is not known")
            continue
        path = os.path.join(MILARUN, "baselines", suite, base + ".json")
        same(prony("report", path, *args), content(MILARUN, "text", name),
             "text/" + name)


def others():
    base = os.path.join(MILARUN, "baselines")
    weights = os.path.join(MILARUN, "weights", "standard.json")
    tenth = os.path.join(base, "10gb", "v100.json")
    rows = [
        ("text/results_dir.plain.txt", RESULTS),
        ("text/results_dir.full.txt", RESULTS, "--weights", WEIGHTS,
         "--price", "12345.67", "--compare-gpus"),
        ("text/results_dir.self-compare.txt", RESULTS, "--weights", WEIGHTS,
         "--compare", os.path.join(MILARUN, "results_dir.summary.json")),
        ("text/nan.10gb-v100.standard-weights.txt", tenth, "--weights",
         weights),
        ("text/nan.10gb-v100.vs.standard-v100.txt", tenth, "--compare",
         os.path.join(base, "standard", "v100.json")),
        ("seed_text/results_dir.weights.txt", RESULTS, "--weights", WEIGHTS,
         "--penalize-variance"),
    ]
    for name, *args in rows:
        same(prony("report", *args), content(MILARUN, name), name)


def near(a, b):
    """Equal but for the last bits of sums, which follow the order of files:
    that of the folder, which a copy of it may not have."""
    if isinstance(a, dict):
        return isinstance(b, dict) and sorted(a) == sorted(b) and all(
            near(a[k], b[k]) for k in a)
    return a == b or abs(a - b) <= 1e-12 * abs(a)


def summaries():
    want = content(MILARUN, "results_dir.summary.json")
    got = prony("summary", RESULTS)
    check(near(json.loads(got), json.loads(want)), "summary: figures",
          got.decode())
    check(re.sub(rb"\d\.\d+", b"", got).count(b"\n") == want.count(b"\n") + 1,
          "summary: laid out as json.dumps does")
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "s.json")
        prony("summary", RESULTS, "-o", path)
        same(content(path) + b"\n", got, "summary: to a file, without a line "
             "end as milarun")
    # A summary read and written again is the same, byte for byte.
    for suite in sorted(os.listdir(os.path.join(MILARUN, "baselines"))):
        folder = os.path.join(MILARUN, "baselines", suite)
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            same(prony("summary", path).rstrip(b"\n"),
                 content(path).rstrip(b"\n"),
                 "summary of %s/%s is itself" % (suite, name))
    seed = json.loads(content(MILARUN, "seed_text",
                              "results_dir.summary.json"))
    now = json.loads(want)
    for test in now.values():
        del test["peak_memory"]
    check(near(seed, now), "the seed's summary: the same without peak_memory")


def real_results():
    """Files milarun aborts on: a job without a partition scheme, only
    failures, and a profile among them."""
    got = json.loads(prony("report", os.path.join(MILARUN, "real_results"),
                           "--format", "json"))
    names = [t["name"] for t in got["tests"]]
    check(names == ["prof.a", "prof.f", "prof.n", "prof.p.2"],
          "real results: every job has its row", str(names))
    rows = {t["name"]: t for t in got["tests"]}
    check(rows["prof.f"]["failures"] == rows["prof.f"]["runs"] == 1 and
          rows["prof.f"]["perf_adj"] == 0,
          "real results: what failed everywhere is worth 0",
          json.dumps(rows["prof.f"]))


def milabench():
    runs = os.path.join(MILABENCH, "runs")
    inputs = [os.path.join(runs, n) for n in sorted(os.listdir(runs))]
    inputs += [os.path.join(MILABENCH, n)
               for n in sorted(os.listdir(MILABENCH))
               if n.endswith(".summary.json")]
    for path in inputs:
        base = os.path.basename(path)
        name = re.sub(r"\.(zip|summary\.json|2023.*)$", "", base)
        want = content(MILABENCH, name + ".report.txt")
        args = ["--compare-gpus"] if b"GPU comparison" in want else []
        got = prony("report", path, *args)
        got = re.sub(rb"^Source: .*", b"Source: X", got, count=1)
        same(got, want, "milabench " + base)


def main():
    if not os.path.isdir(MILARUN):
        print("SKIP: no reference data of other tools; PRONY_PEERS=FOLDER "
              "says where they are")
        return 77
    baselines()
    others()
    summaries()
    real_results()
    milabench()
    return end()


sys.exit(main())
