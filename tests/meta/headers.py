#!/usr/bin/env python3
"""Every header compiles alone: public ones as C99 and as C++, those of the
rooms as what the project is written in."""

import os
import re
import shlex
import shutil
import subprocess

from common import SRC, c_files, finish

STRICT = "-Wall -Wextra -Wpedantic -Werror -fsyntax-only".split()


def compile_alone(command, path):
    """The compiler's complaint about a file that includes only this one, or
    an empty string."""
    run = subprocess.run(
        command + STRICT + ["-I" + os.path.join(SRC, "include"),
                            "-I" + os.path.join(SRC, "src"),
                            "-I" + SRC, "-"],
        input='#include "%s"\n' % os.path.join(SRC, path),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    return run.stdout if run.returncode else ""


# Headers of an optional library: src/format/<name>*.h.
OPTIONAL = {"hdf5": "hdf5-serial", "jpeg": "libturbojpeg", "png": "libpng"}


def flags(path):
    """What the compiler needs to know for this header; None: its library is
    not there."""
    name = re.match(r"[a-z0-9]+", os.path.basename(path)).group()
    if not path.startswith("src/format/") or name not in OPTIONAL:
        return []
    run = subprocess.run(["pkg-config", "--cflags", OPTIONAL[name]],
                         stdout=subprocess.PIPE, text=True, check=False)
    return shlex.split(run.stdout) if run.returncode == 0 else None


def cxx():
    for name in ("g++", "clang++"):
        if shutil.which(name):
            return name
    return None


def main():
    cc = shlex.split(os.environ.get("CC", "cc"))
    headers = [p for p in c_files("include", "src", "cli", "compat")
               if p.endswith(".h")]
    problems = []
    if compile_alone(cc + ["-xc"], "no/such.h") == "":
        problems.append("self-test: a missing header went unnoticed")
    for path in headers:
        public = path.startswith("include/")
        if flags(path) is None:
            print("%s: not tried, its library is not there" % path)
            continue
        problems.append(compile_alone(
            cc + ["-xc", "-std=c99" if public else "-std=gnu11"]
            + flags(path), path))
        if public and cxx():
            problems.append(compile_alone([cxx(), "-xc++"], path))
    if not cxx():
        print("no C++ compiler: public headers not tried as C++")
    finish([p for p in problems if p], "%d headers" % len(headers))


main()
