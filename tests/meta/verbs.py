#!/usr/bin/env python3
"""Every verb has a man page, a golden case, and one of its cases is among
those that are repeated under valgrind (# tags: valgrind)."""

import argparse
import glob
import os
import re
import subprocess

from common import SRC, finish


def cases():
    """Pairs of text and tags of every golden case."""
    for path in glob.glob(os.path.join(SRC, "tests/cli/*/**/*.sh"),
                          recursive=True):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        yield text, " ".join(re.findall(r"^# tags: *(.*)", text, re.M)).split()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--prony", required=True)
    verbs = subprocess.run([p.parse_args().prony, "__verbs"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split()
    every = list(cases())
    problems = [] if verbs else ["prony __verbs lists nothing"]
    for verb in verbs:
        called = re.compile(r"\bprony( -[\w=-]+)* %s\b" % verb)
        tags = [tags for text, tags in every if called.search(text)]
        if not tags:
            problems.append("%s: no case in tests/cli" % verb)
        elif not any("valgrind" in t for t in tags):
            problems.append("%s: no case with '# tags: valgrind'" % verb)
        if not os.path.exists(os.path.join(SRC, "docs/man/prony-%s.1" % verb)):
            problems.append("%s: no man page; run make docs" % verb)
    finish(problems, "%d verbs, %d cases" % (len(verbs), len(every)))


main()
