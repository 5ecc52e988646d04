#!/usr/bin/env python3
"""Committed generated files are what the program writes now."""

import argparse
import difflib
import glob
import os
import subprocess
import tempfile

from common import SRC, finish


def files_below(top):
    return sorted(os.path.relpath(os.path.join(d, n), top)
                  for d, _, names in os.walk(top) for n in names)


def lines(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--prony", required=True)
    prony = os.path.abspath(p.parse_args().prony)
    problems = []
    with tempfile.TemporaryDirectory() as fresh:
        subprocess.run([os.path.join(SRC, "tools/gen_docs"), prony, fresh],
                       check=True)
        names = files_below(fresh)
        for name in names:
            diff = list(difflib.unified_diff(
                lines(os.path.join(SRC, name)),
                lines(os.path.join(fresh, name)),
                "committed", "generated", lineterm=""))
            if diff:
                problems.append("%s is stale; run make docs\n%s"
                                % (name, "\n".join(diff[:20])))
    old = glob.glob(os.path.join(SRC, "docs/man/*.[157]"))
    problems += ["%s: nothing writes it any more" % os.path.relpath(p, SRC)
                 for p in old if os.path.relpath(p, SRC) not in names]
    finish(problems, "%d generated files are fresh" % len(names))


main()
