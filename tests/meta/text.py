#!/usr/bin/env python3
"""Text files end with a newline and have no tabs, carriage returns or blanks
at the end of a line; scripts that say how they are run can be run."""

import os
import re

from common import SRC, finish, project_files, read

ENDINGS = (".c", ".h", ".def", ".py", ".sh", ".md", ".yaml", ".yml", ".build",
           ".txt", ".in")
DATA = ("tests/fuzz/corpus/", "tests/golden/", "tests/old/", "tests/peers/")


def check(path, text):
    if text and not text.endswith("\n"):
        yield "%s: no newline at the end" % path
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            yield "%s:%d: blanks at the end of the line" % (path, number)
        elif "\t" in line:
            yield "%s:%d: a tab" % (path, number)


def check_links(path, text):
    """A link to a file leads to one; README names every page of docs/."""
    folder = os.path.join(SRC, os.path.dirname(path))
    for target in re.findall(r"\]\(([^)#:\s]+)\)", text):
        if not os.path.exists(os.path.join(folder, target)):
            yield "%s: links to %s, which is not there" % (path, target)
    if path == "README.md":
        for page in sorted(os.listdir(os.path.join(SRC, "docs"))):
            if page.endswith(".md") and "(docs/%s)" % page not in text:
                yield "README.md: lacks docs/%s" % page


def check_mode(path):
    with open(os.path.join(SRC, path), "rb") as f:
        script = f.read(2) == b"#!"
    if path.startswith("tools/") and "." not in path and "packages" not in path:
        if not script or not os.access(os.path.join(SRC, path), os.X_OK):
            yield "%s: is not an executable script" % path


def main():
    problems = []
    files = project_files()
    for path in files:
        if path.endswith(ENDINGS) and not (path.startswith(DATA)
                                           and not path.endswith(".py")):
            problems += check(path, read(path))
        if path == "README.md" or (path.startswith("docs/")
                                   and path.count("/") == 1
                                   and path.endswith(".md")):
            problems += check_links(path, read(path))
        problems += check_mode(path)
    finish(problems, "%d files" % len(files))


main()
