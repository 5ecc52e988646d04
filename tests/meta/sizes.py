#!/usr/bin/env python3
"""No function over 100 lines (tables of tests aside), no file over 1,200; prints the largest, which are
the next to be split. Counts on the layout that clang-format gives: a function
is what stands between a '{' and a '}' in the first column."""

import re

from common import c_files, finish, read

FUNCTION_MAX = 100
FILE_MAX = 1200


def functions(text):
    """Pairs (lines of the body, name)."""
    lines = text.split("\n")
    start = None
    for i, line in enumerate(lines):
        if line == "{":
            start = i
        elif line.startswith("}") and start is not None:
            head = " ".join(lines[max(0, start - 6):start])
            names = re.findall(r"(\w+)\([^;{}]*\)\s*(?:/\*.*\*/)?$", head)
            yield i - start + 1, names[0] if names else "?"
            start = None


def main():
    bodies = []
    files = []
    for path in c_files("src", "cli", "compat", "include", "python", "tests",
                        "bench"):
        text = read(path)
        files.append((text.count("\n"), path))
        if path.endswith(".c"):
            bodies += [(n, "%s: %s()" % (path, name))
                       for n, name in functions(text)
                       if not path.startswith("tests/")]
    problems = ["%s has %d lines, at most %d" % (what, n, most)
                for rows, most in ((bodies, FUNCTION_MAX), (files, FILE_MAX))
                for n, what in rows if n > most]
    if len(bodies) < len(files) / 4:
        problems.append("found only %d functions in %d files"
                        % (len(bodies), len(files)))
    for rows in (bodies, files):
        for n, what in sorted(rows, reverse=True)[:5]:
            print("%5d  %s" % (n, what))
    finish(problems, "%d functions, %d files" % (len(bodies), len(files)))


main()
