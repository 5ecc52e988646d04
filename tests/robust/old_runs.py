#!/usr/bin/env python3
"""Runs that an older Prony wrote (tests/old) can still be read: every reading
verb takes every one of them, and tells the figures that are in its files."""

import csv
import io
import json
import os
import re
import shutil

from _robust import Scratch, run

OLD = os.path.join(os.environ["SRC"], "tests", "old")
# Of each run: its experiments, and figures that its files are known to hold.
RUNS = {
    "sweep": (6, {"speed": 30, "time": 3}),
    "training": (1, {"utilisation": 0.9473743496215878,
                     "samples_per_second": 1515.7989593945406}),
    "checkpoint": (1, {"checkpoint_write_s": 0.06248948,
                       "checkpoint_read_s": 0.007431731}),
    "probe": (1, {"io": 5990.267303438982, "synthetic": 696.8690071459696,
                  "full": 721.8050473149476}),
    "native": (1, {"time": 563.7334164, "throughput": 28.382209630530603}),
    "suite": (2, {"max": 29400.626373737825}),
    "capacity": (2, {"utilisation": 1.0, "mb_per_second": 1.9833296589515859}),
    "killed": (3, {"speed": 10}),
}
WITHOUT_EXPERIMENTS = ("suite", "capacity")  # reported by test, by trial
TIMED = ("sweep", "native", "probe", "suite")  # report results.time


def numbers(value):
    """Every pair of a name and a number in a JSON document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, (int, float)):
                yield key, inner
            yield from numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner)


class Old:
    """One old run, copied to where it may be written to."""

    def __init__(self, scratch, name):
        self.scratch = scratch
        self.name = name
        self.count, self.figures = RUNS[name]
        self.folder = scratch.path(name)
        shutil.copytree(os.path.join(OLD, name), self.folder)
        for at, folders, _ in os.walk(self.folder):
            for folder in folders:
                os.chmod(os.path.join(at, folder), 0o755)

    def prony(self, *args, status=(0,)):
        got, out, err = run(list(args), cwd=self.scratch.path())
        self.scratch.check(got in status, "prony %s: status %d, not %s\n%s%s"
                           % (" ".join(args), got, status, out, err))
        return out, err

    def check(self, good, text):
        self.scratch.check(good, "%s: %s" % (self.name, text))

    def check_figures(self, verb, document, figures=None):
        found = list(numbers(document))
        for key, wanted in (figures or self.figures).items():
            self.check(any(key == k and abs(v - wanted) <= 1e-9 * abs(wanted)
                           for k, v in found),
                       "%s lost %s=%s" % (verb, key, wanted))

    # ------------------------------------------------------------- the verbs

    def report(self):
        out, _ = self.prony("report", self.name, "--format", "json")
        document = json.loads(out)
        self.check_figures("report --format json", document)
        if self.name not in WITHOUT_EXPERIMENTS:
            listed = len(document["experiments"])
            self.check(listed == self.count, "report lists %d experiments"
                       % listed)
        text, _ = self.prony("report", self.name)
        self.check(len(text.splitlines()) > 2, "report says: " + text)
        rows = list(csv.reader(io.StringIO(
            self.prony("report", self.name, "--format", "csv")[0])))
        self.check(len(rows) > 1 and len({len(r) for r in rows}) == 1,
                   "the CSV is ragged or empty: %r" % rows)
        text, _ = self.prony("report", self.name, "--format", "md")
        self.check(re.search(r"^\|[ :|-]+\|$", text, re.M), "no Markdown table")
        if self.name == "capacity":  # a search has no page
            return
        page = self.scratch.path("page.html")
        self.prony("report", self.name, "--html", page)
        with open(page, encoding="utf-8") as f:
            text = f.read()
        self.check("</html>" in text, "the page is not whole")
        os.unlink(page)

    def summary(self):
        out, _ = self.prony("summary", self.name)
        document = json.loads(out)
        if self.name == "suite":
            self.check(list(document) == ["quick.recom"],
                       "summary has %s" % list(document))
            self.check_figures("summary", document)

    def compare(self):
        if self.name == "capacity":  # a search has no result of its own
            self.prony("compare", self.name, self.name, status=(0, 5))
            return
        out, _ = self.prony("compare", self.name, self.name, "--format",
                            "json")
        self.check("+0.0" not in out, "a run differs from itself: " + out)
        json.loads(out)

    def parse(self):
        self.prony("parse", self.name, "--recursive", "--output-file",
                   self.scratch.path("p.json"))
        with open(self.scratch.path("p.json"), encoding="utf-8") as f:
            data = json.load(f)["data"]
        os.unlink(self.scratch.path("p.json"))
        expected = 2 if self.name == "killed" else self.count
        self.check(len(data) == expected, "parse finds %d results" % len(data))

    def scaling(self):
        for kind in ("weak-scaling", "strong-scaling", "exploration"):
            status = (0,) if self.name in TIMED else (0, 5)
            self.prony("scaling", self.name, "--type", kind, status=status)

    def plot(self):
        key = {"suite": "time", "capacity": "utilisation"}.get(
            self.name, list(self.figures)[0])
        chart = self.scratch.path("chart.svg")
        args = ["plot", self.name, "--xparam", "exp.id", "--yparam",
                "results." + key, "--chart-file", chart]
        if self.name == "capacity":
            args.append("--recursive")
        self.prony(*args)
        with open(chart, encoding="utf-8") as f:
            self.check("</svg>" in f.read(), "the chart is not whole")
        os.unlink(chart)

    def rerun(self):
        if self.name == "capacity":
            return
        experiments = self.scratch.path(self.name, "experiments")
        first = sorted(os.listdir(experiments))[0]
        self.prony("rerun", "-q",
                   os.path.join(experiments, first, "result.json"),
                   "-o", self.scratch.path(self.name + "-again"))

    def resume(self):
        if self.name == "capacity":
            out, _ = self.prony("capacity", "-q", "--resume", self.name)
            self.check("keeps at least 1 accelerator" in out, out)
            return
        status = (6,) if self.name == "sweep" else (0,)
        out, _ = self.prony("run", "-q", "--resume", self.name, "--format",
                            "json", status=status + (1,))
        document = json.loads(out)
        got = [e["status"] for e in document["experiments"]]
        failed = 2 if self.name == "sweep" else 0
        self.check(got.count("ok") == self.count - failed,
                   "resumed: %s" % got)

    def verbs(self):
        return (self.report, self.summary, self.compare, self.parse,
                self.scaling, self.plot, self.rerun, self.resume)


def main():
    scratch = Scratch()
    with open(scratch.path("go"), "w", encoding="utf-8"):
        pass  # what the commands of "killed" waited for
    scratch.check(sorted(RUNS) == sorted(
        name for name in os.listdir(OLD)
        if os.path.isdir(os.path.join(OLD, name))),
        "not the runs that are in tests/old")
    calls = 0
    for name in RUNS:
        for verb in Old(scratch, name).verbs():
            verb()
            calls += 1
    scratch.finish("%d ways to read %d old runs" % (calls, len(RUNS)))


if __name__ == "__main__":
    main()
