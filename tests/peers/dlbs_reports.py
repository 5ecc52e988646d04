#!/usr/bin/python3
"""Logs, lists and reports: what DLBS printed for them, byte for byte.

Usage: dlbs_reports.py

The program is $PRONY, the reference data are in $PRONY_PEERS, else in
../shared/peers beside the project ($SRC); status 77 when they are not there.
Also read: results of milarun, milabench and DLIO. One line of TAP for each.

Where we differ on purpose:

  BUG-16  strong scaling: rows without any time are left out, and an efficiency
          without a base is none; DLBS prints 100.00
  WARNING the log parser's first line says that it is deprecated
"""
import json
import os
import subprocess
import sys
import tempfile

from _tap import check, end

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.environ.get("PRONY") or os.path.join(SRC, "build", "prony")
PEERS = os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers")
DLBS = os.path.join(PEERS, "dlbs")
INTRO = os.path.join(DLBS, "mlbox_intro_logs")
EXAMPLE = os.path.join(DLBS, "mlbox_example_logs")
INPUT = os.path.join(DLBS, "scaling_input.json")
TYPES = ("weak-scaling", "strong-scaling", "exploration")


def prony(*args):
    p = subprocess.run([PRONY, *args], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    return p.stdout if p.returncode == 0 else p.stderr


def golden(name):
    with open(os.path.join(DLBS, "golden", name), newline="") as f:
        return f.read()


def text_of(path):
    with open(path, newline="") as f:
        return f.read()


def same(got, want, what):
    check(got == want, what, "got:\n%s\nwanted:\n%s" % (got, want))


def without_bug_16(text):
    """Rows of nothing vanish; so do efficiencies of rows without a base."""
    tables = [t.splitlines() for t in text.split("\n\n\n\n")]
    times = {line[:31]: line[31:].split() for line in tables[0][2:]}
    for i, table in enumerate(tables):
        rows = [r for r in table[2:] if set(times[r[:31]]) - {"-"}]
        if i == 3:
            rows = [r if times[r[:31]][0] != "-" else
                    r[:32] + "%-10s" % "-" + r[42:] for r in rows]
        tables[i] = table[:2] + rows
    return "\n\n\n\n".join("\n".join(t) for t in tables)


def scaling(folder):
    for kind in TYPES:
        report = os.path.join(folder, "report.json")
        got = prony("scaling", "--summary-file", INPUT, "--type", kind,
                    "--target-variable", "results.time", "--report-file",
                    report)
        want = golden("scaling_%s.txt" % kind)
        if kind == "strong-scaling":
            first, rest = want.split("\n", 1)
            want = first + "\n" + without_bug_16(rest)
        same(got, want, "scaling %s" % kind)
        want = golden("scaling_%s.report.json" % kind)
        if kind == "strong-scaling":
            data = json.loads(want)["data"]
            want = json.dumps({"data": [d for d in data if d["perf"]["data"]]},
                              indent=4)
        same(text_of(report), want, "report file of %s" % kind)
    same(prony("scaling", "--summary_file", INPUT, "--type", "weak-scaling",
               "--target_variable", "results.time", "--query",
               '{"exp.framework": "mxnet"}'),
         golden("intro_doc_weak.txt"), "the introduction's numbers")


def logs(folder):
    path = os.path.join(folder, "intro.json")
    want = golden("intro_logparser.json")
    names = ",".join(json.loads(want)["data"][0])
    for spelt in ("--output_file", "--output-file"):
        said = prony("parse", INTRO, spelt, path, "--output-params", names)
        same(text_of(path), want, "logs with %s" % spelt)
    same(said, golden("intro_logparser.stdout").split("\n", 1)[1].replace(
        "golden/intro_logparser.json", path), "what the parser says")
    same(prony("parse", INTRO, "--format", "json"),
         golden("intro_bench_data_summary.json") + "\n", "summary")
    for kind in TYPES:
        same(prony("scaling", path, "--type", kind),
             golden("intro_summary_%s.txt" % kind), "intro, %s" % kind)
    packed = os.path.join(folder, "intro.tgz")
    subprocess.run(["tar", "czf", packed, "-C", INTRO, "."], check=True)
    same(prony("parse", packed, "--report", "regular"),
         golden("intro_bench_data_report_regular.txt"), "regular report of an "
         "archive")


def reports():
    caffe2 = ("--select", '{"exp.framework": "caffe2"}')
    same(prony("parse", INTRO, "--report", "regular"),
         golden("intro_bench_data_report_regular.txt"), "regular report")
    same(prony("parse", EXAMPLE, "--report", json.dumps(
        {"inputs": ["exp.model_title", "exp.dtype"],
         "output": "exp.replica_batch", "report_speedup": True})),
        golden("example_report_dtype.txt"), "report by precision")
    for kind in ("weak", "strong"):
        for name in (kind, kind + "-scaling"):
            same(prony("parse", INPUT, *caffe2, "--report", name),
                 golden("scaling_bench_data_%s.txt" % kind), "report " + name)


def others(folder):
    path = os.path.join(folder, "out.json")
    for name, inputs, rows, key in (
            ("milarun", "milarun/results_dir", 62, "results.throughput"),
            ("milabench", "milabench/runs", 4, "results.throughput"),
            ("DLIO", "dlio/results", 2, "results.train_au_mean_percentage")):
        source = os.path.join(PEERS, inputs)
        if not os.path.exists(source):
            print("# %s is not there" % source)
            continue
        prony("parse", source, "--recursive", "-o", path)
        data = json.loads(text_of(path))["data"]
        check(len(data) == rows and all("exp.status" in d for d in data) and
              any(d.get(key, 0) > 0 for d in data), name, str(len(data)))


def main():
    if not os.path.exists(INPUT):
        print("SKIP: no reference data of other tools; PRONY_PEERS=FOLDER "
              "says where they are")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        scaling(folder)
        logs(folder)
        reports()
        others(folder)
    return end()


if __name__ == "__main__":
    sys.exit(main())
