#!/usr/bin/env python3
"""tests/cli/run.py itself: a copy of it, in a project made up here, must pass
what is right and fail what is wrong."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from common import SRC, finish

PRONY = """#!/bin/sh
case $1 in
say) shift; echo "$*" ;;
warn) shift; echo "$*" >&2 ;;
fail) exit "$2" ;;
make) : >"$2" ;;
env) env ;;
hang) sleep 60 ;;
leave) sleep 60 & ;;
esac
"""

# Files of the project: name (below tests/cli unless it has a /), text.
GOLDEN = {
    "good_plain": {"sh": "prony say a b; prony warn c", "out": "a b\n",
                   "err.glob": "c\n"},
    "good_exit": {"sh": "prony fail 3", "exit": "3\n"},
    "good_glob": {"sh": "prony say 'x [1] ? *'; prony say y; prony say z",
                  "out.glob": "x [1] ? \\*\n...\n*z*\n"},
    "good_files": {"sh": "prony make f.json; mkdir d; prony make d/g",
                   "files": "*.json\nd/g\n!*.tmp\n"},
    "good_clean": {"sh": "test \"$HOME\" = \"$PWD\"; test \"$TMP\" = \"$PWD\"; "
                         "test -d \"$SRC/tests\"; prony env | "
                         "sed -n '/^PRONY_NVML=$/d; s/^PRONY_.*/leaked/p'"},
    "good_place": {"sh": "prony say $PWD", "out": "$TMP\n"},
    "good_left": {"sh": "prony leave"},
    "bad_out": {"sh": "prony say a", "out": "b\n"},
    "bad_newline": {"sh": "printf a", "out": "a\n"},
    "bad_extra_out": {"sh": "prony say a"},
    "bad_err": {"sh": "prony warn a", "err.glob": "b\n"},
    "bad_extra_err": {"sh": "prony warn a"},
    "bad_missing_err": {"sh": ":", "err.glob": "a\n"},
    "bad_glob": {"sh": "prony say ab", "out.glob": "a?\n"},
    "bad_glob_more": {"sh": "prony say a; prony say b", "out.glob": "a\n"},
    "bad_exit": {"sh": "prony fail 3"},
    "bad_middle": {"sh": "prony fail 3; true"},
    "bad_files": {"sh": ":", "files": "*.json\n"},
    "bad_tmp": {"sh": "prony make a.tmp", "files": "!*.tmp\n"},
    "bad_hang": {"sh": "prony hang"},
    "bad_unset": {"sh": "prony say $NO_SUCH", "out": "\n"},
    "skip_it": {"sh": "echo no GPU; exit 77"},
}

DOCS = {
    "docs/good_one.md": """```yaml file=a.yaml
a: 1
```
```console
$ cat a.yaml
a: 1
$ prony say one two \\
  three
one ... three
$ prony fail 3  # exit 3
$ mkdir d; cd d
$ basename "$PWD"
d
$ prony say a; prony say b; prony say c
a
...
```
<!-- test: setup
echo made >unseen
-->
Text.
```console
$ cat ../unseen
made
```
""",
    "docs/good_part.md": "<!-- test: skip no GPU -->\n"
                         "```console\n$ false\n```\n",
    "docs/skip_all.md": "<!-- test: setup\necho no GPU; exit 77\n-->\n"
                        "```console\n$ false\n```\n",
    "docs/good_disturbed.md": "```console\n$ prony say 'Disturbed: x'\nb\n"
                              "```\n",
    "docs/bad_output.md": "```console\n$ prony say a\nb\n```\n",
    "docs/bad_status.md": "```console\n$ prony fail 3\n```\n",
    "docs/bad_missing.md": "```console\n$ prony say a\n```\n",
}

EXAMPLES = {
    "examples/good_one.yaml": "# run: cat examples/good_one.yaml\n"
                              "# expect: key: v*\nkey: value\n",
    "examples/good_two.json": "{}\n",
    "examples/good_two.cmd": "# exit: 3\nprony fail 3\n",
    "examples/skip_disturbed.yaml": "# run: prony say 'Disturbed: x'\n"
                                    "# expect: b\n",
    "examples/bad_mute.yaml": "a: 1\n",
    "examples/bad_fails.yaml": "# run: prony fail 3\n# run: true\n",
    "examples/bad_line.yaml": "# run: prony say a\n# expect: b\n",
}


def write(root, name, text):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def run(root, *args):
    got = subprocess.run(
        [sys.executable, os.path.join(root, "tests/cli/run.py"), "--prony",
         os.path.join(root, "prony"), "--timeout", "10", *args],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PRONY_X": "1"}, check=False)
    return got.returncode, got.stdout


def judge(root, names, *args):
    """What run.py said of these cases that is not what their names say."""
    status, text = run(root, *args)
    said = {}
    for line in text.splitlines():
        m = re.match(r"(not )?ok \d+ - (?:\w+/)*([\w.:]+)( # SKIP)?", line)
        if m:
            said[m.group(2)] = ("bad" if m.group(1) else
                                "skip" if m.group(3) else "good")
    problems = ["%s was found %s" % (name, said.get(name, "missing"))
                for name in names if said.get(name) != name.split("_")[0]]
    if status != 1:
        problems.append("exit status %d of run.py" % status)
    return problems + ([text] if problems else [])


def check_bless(root):
    """A blessed case passes afterwards, and cases that vanish are noticed."""
    shutil.rmtree(os.path.join(root, "tests/cli/area"))
    write(root, "tests/cli/area/new.sh",
          "prony say '*' a; prony warn 'x * y'; prony fail 4")
    write(root, "tests/cli/area/old.sh", "true")
    if run(root)[0] != 1 or run(root, "--bless")[0] != 0 or run(root)[0] != 0:
        return ["--bless does not make a case pass"]
    os.unlink(os.path.join(root, "tests/cli/area/old.sh"))
    return [] if run(root)[0] == 1 else ["a case vanished unnoticed"]


def check_prefix(root):
    """What the program around ours writes into its log fails the case."""
    write(root, "tests/cli/area/new.sh", "prony fail 0")
    for name in ("new.exit", "new.out", "new.err.glob"):
        os.unlink(os.path.join(root, "tests/cli/area", name))
    tool = write(root, "tool", '#!/bin/sh\n[ -z "$2" ] || echo leak >"$1.1"\n'
                 'shift 2\nexec "$@"\n')
    os.chmod(tool, 0o755)
    clean = run(root, "-k", "new", "--exec-prefix", tool + " @LOG@ ''")[0]
    leaky = run(root, "-k", "new", "--exec-prefix", tool + " @LOG@ x")[0]
    return [] if (clean, leaky) == (0, 1) else [
        "--exec-prefix: clean %d, leaky %d" % (clean, leaky)]


def main():
    problems = []
    with tempfile.TemporaryDirectory() as root:
        os.chmod(write(root, "prony", PRONY), 0o755)
        write(root, "tests/cli/run.py", "")
        shutil.copy(os.path.join(SRC, "tests/cli/run.py"),
                    os.path.join(root, "tests/cli/run.py"))
        for case, files in GOLDEN.items():
            for suffix, text in files.items():
                write(root, "tests/cli/area/%s.%s" % (case, suffix), text)
        for name, text in {**DOCS, **EXAMPLES}.items():
            write(root, name, text)
        problems += judge(root, GOLDEN)
        problems += judge(root, map(os.path.basename, DOCS), "--docs")
        problems += judge(root, [os.path.basename(n) for n in EXAMPLES
                                 if not n.endswith(".cmd")], "--examples")
        problems += check_bless(root)
        problems += check_prefix(root)
    finish(problems, "%d made-up cases were judged rightly"
           % (len(GOLDEN) + len(DOCS) + len(EXAMPLES)))


main()
