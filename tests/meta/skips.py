#!/usr/bin/env python3
"""Whatever is skipped says why, a semicolon, and how to make it run: in unit
tests, in scripts of Python and in cases of the command line. Planted ones
prove that this test would see them."""

import ast
import re

from common import finish, line_of, project_files, read

# "no x; install x" as a literal of one or more parts.
C_SKIP = re.compile(r'\bskip_because\(\s*((?:"(?:\\.|[^"\\])*"\s*)+)')
SH_SKIP = re.compile(
    r"echo\s+(\"[^\"]*\"|'[^']*');\s*exit 77|^\s*exit 77", re.M)


def texts(node):
    """All literals in an expression, as one."""
    constants = [n for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return " ".join(n.value for n in constants if isinstance(n.value, str))


def is_silent(text):
    """Whether words are there, but no remedy. Without any word a wrapper hands
    on those of its caller."""
    words = re.sub(r"%\w|\bSKIP(PED)?\b|\bok\b", "", text)
    return re.search("[a-z]", words) and ";" not in words


def python_skips(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name == "skip" or re.search(r"\bSKIP(PED)?\b", texts(node)):
                yield node
        elif (isinstance(node, ast.Assign) and texts(node.value)
              and getattr(node.targets[0], "attr", "") == "skip"):
            yield node.value


def check(path, text):
    if path.endswith((".c", ".h")):
        lines = [line_of(text, m.start()) for m in C_SKIP.finditer(text)
                 if ";" not in m.group(1)]
    elif path.endswith(".py"):
        lines = [n.lineno for n in python_skips(ast.parse(text))
                 if is_silent(texts(n))]
    else:
        lines = [line_of(text, m.start()) for m in SH_SKIP.finditer(text)
                 if ";" not in (m.group(1) or "")]
    return ["%s:%d: a skip says why; and how to make it run" % (path, n)
            for n in sorted(set(lines))]


def self_test():
    planted = [("a.c", 'skip_because("no x,"\n " no y");'),
               ("a.py", 'skip("no x in %s" % y)'),
               ("a.py", 'g.skip = "no " + y'),
               ("a.py", 'print("1..0 # SKIP no x")'),
               ("a.sh", 'x || { echo "no x"; exit 77; }'),
               ("a.sh", "if x; then\n    exit 77\nfi")]
    allowed = [("a.c", 'skip_because("no x; "\n "install it");'),
               ("a.c", "skip_because(WHY);"),
               ("a.py", 'skip("no x in %s; install it" % y)'),
               ("a.py", 'print("1..0 # SKIP " + why)\nskip(why)'),
               ("a.sh", 'x || { echo "no x; install it"; exit 77; }')]
    return (["self-test: not seen: %r" % t for p, t in planted
             if len(check(p, t)) != 1]
            + ["self-test: wrongly seen: %r" % t for p, t in allowed
               if check(p, t)])


def main():
    problems = self_test()
    paths = [p for p in project_files()
             if p.startswith(("tests/unit/", "tests/peers/", "tests/robust/"))
             and p.endswith((".c", ".h", ".py"))
             or p.startswith("tests/cli/") and p.endswith(".sh")
             or p.startswith("docs/") and p.endswith(".md")]
    for path in paths:
        problems += check(path, read(path))
    finish(problems, "%d files say why they skip, and the remedy" % len(paths))


main()
