#!/usr/bin/env python3
"""The shared library exports exactly the names in symbols.txt. With --bless,
writes that file: a name that goes away breaks programs."""

import argparse
import os
import shutil
import subprocess

from common import SRC, finish, read, skip

LIST = "tests/meta/symbols.txt"


def exported(lib):
    out = subprocess.run(["nm", "-D", "--defined-only", lib], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return sorted(line.split()[-1] for line in out.splitlines())


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--lib", required=True)
    p.add_argument("--bless", action="store_true")
    opts = p.parse_args()
    if not shutil.which("nm"):
        skip("no nm (binutils)")
    now = exported(opts.lib)
    if opts.bless:
        with open(os.path.join(SRC, LIST), "w", encoding="utf-8") as f:
            f.writelines(name + "\n" for name in now)
    listed = read(LIST).split()
    finish(["not in %s: %s" % (LIST, n) for n in now if n not in listed]
           + ["no longer exported: " + n for n in listed if n not in now]
           + ["exported, but not ours: " + n for n in now
              if not n.startswith("pr_")],
           "%d symbols" % len(now))


main()
