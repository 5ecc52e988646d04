#!/usr/bin/env python3
"""Names say what they name, once: counts functions that share their name,
functions of one word, extern functions, headers for one module's eyes
(_impl.h) and tags or files that exist twice, and fails where there are more
than there were. A limit that could be lower is to be lowered."""

import collections
import os
import re

from common import c_files, finish, read, strip_c
from functions import functions

ROOMS = ("src", "cli", "compat")
# Two halves of an #if count as two; 100 functions are about 1 %.
MOST = {
    "functions that share their name": 80,
    "functions of one word": 0,
    "extern functions": 2100,
    "headers that end with _impl.h": 10,
    "struct, union and enum tags defined twice": 2,  # two back ends
    "names of files that occur twice": 0,
}
TAG = re.compile(r"^(?:static const |static |const )?(struct|union|enum) (\w+)"
                 r"\s*\{", re.M)


def count(files):
    """What MOST has limits for; lists of what was counted."""
    names = collections.defaultdict(list)
    tags = collections.defaultdict(set)
    bases = collections.Counter()
    extern = []
    for path, text in files:
        bases[os.path.basename(path)] += 1
        code = strip_c(text)
        if path.endswith(".c"):
            for name, static, line, _ in functions(code):
                names[name].append("%s:%d" % (path, line))
                if not static:
                    extern.append("%s (%s:%d)" % (name, path, line))
        for found in TAG.finditer(code):
            if found.group(2).startswith("pr_"):
                tags[found.group(2)].add(path)
    return {
        "functions that share their name":
            ["%s: %s" % (n, ", ".join(at)) for n, at in names.items()
             if len(at) > 1 for _ in at],
        "functions of one word":
            ["%s (%s)" % (n, at[0]) for n, at in names.items()
             if "_" not in n and n != "main"],
        "extern functions": extern,
        "headers that end with _impl.h":
            [p for p, _ in files if p.endswith("_impl.h")],
        "struct, union and enum tags defined twice":
            ["%s: %s" % (n, ", ".join(sorted(at)))
             for n, at in tags.items() if len(at) > 1],
        "names of files that occur twice":
            [n for n, times in bases.items() if times > 1],
    }


def self_test():
    got = count([
        ("src/a/one.c", "static int add(int a)\n{\n}\n\nint pr_two(void)\n{\n}\n"),
        ("src/b/two.c", "static int\nadd(int a)\n{\n}\n\nstruct pr_x {\n};\n"),
        ("src/b/one.c", "void pr_y(int a[static 3])\n{\n}\n"),
        ("src/b/two_impl.h", "struct pr_x {\n};\nstruct pr_z;\n"),
    ])
    want = {"functions that share their name": 2, "functions of one word": 1,
            "extern functions": 2, "headers that end with _impl.h": 1,
            "struct, union and enum tags defined twice": 1,
            "names of files that occur twice": 1}
    return ["self-test: %s: found %r" % (what, got[what])
            for what, n in want.items() if len(got[what]) != n]


def main():
    problems = self_test()
    found = count([(p, read(p)) for p in c_files(*ROOMS)
                   if not p.endswith(".def")])
    for what, items in found.items():
        print("%5d %s, at most %d" % (len(items), what, MOST[what]))
        if len(items) > MOST[what]:
            problems.append("%d %s, at most %d: %s" % (
                len(items), what, MOST[what],
                "; ".join(items if len(items) < 100 else items[-3:])))
    finish(problems, "names are as good as they were")


main()
