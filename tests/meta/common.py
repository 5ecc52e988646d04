"""What the meta tests share: the files of the project, C without its comments,
and how a test ends."""

import os
import re
import subprocess
import sys

SRC = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def read(path):
    """The text of a file, named relative to the project."""
    with open(os.path.join(SRC, path), encoding="utf-8",
              errors="replace") as f:
        return f.read()


def _walk():
    for folder, folders, names in os.walk(SRC):
        folders[:] = [d for d in folders
                      if d != ".git" and not d.startswith("build")]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), SRC)


def project_files():
    """Every file that is, or could be, committed."""
    git = subprocess.run(
        ["git", "-C", SRC, "ls-files", "-co", "--exclude-standard"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=False) if os.path.exists(os.path.join(SRC, ".git")) else None
    if git is None or git.returncode != 0:
        return sorted(_walk())
    return sorted(p for p in set(git.stdout.splitlines())
                  if os.path.isfile(os.path.join(SRC, p)))


def c_files(*folders):
    """C sources, headers and .def tables below these folders."""
    return [p for p in project_files()
            if p.split("/")[0] in folders and p.endswith((".c", ".h", ".def"))]


_TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def strip_c(text, keep_line_comments=False):
    """C text with comments and the insides of literals blanked out; lines and
    columns stay where they were."""
    def blank(match):
        found = match.group()
        if found.startswith("//") and keep_line_comments:
            return found
        if found[0] in "\"'":
            return found[0] + re.sub(r"[^\n]", " ", found[1:-1]) + found[0]
        return re.sub(r"[^\n]", " ", found)
    return _TOKEN.sub(blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def finish(problems, ok):
    """Ends the test: prints the problems, or one line that all is well."""
    for problem in problems:
        print(problem)
    if problems:
        print("%d problem%s" % (len(problems), "s"[:len(problems) != 1]))
        sys.exit(1)
    print(ok)
    sys.exit(0)


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)
