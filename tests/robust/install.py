#!/usr/bin/env python3
"""`make install` as a user does it: below the home folder, with spaces in its
name, from a shell that leaves "~" alone; and what it says about the PATH. Meson
and the build are made up: what is tested is how they are called."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
problems = []


def check(good, text):
    if not good:
        problems.append(text)


def script(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def project(root):
    """The Makefile and tools/install, among made-up programs."""
    os.makedirs(root + "/a clone/build")
    for name in ("Makefile", "tools/install"):
        os.makedirs(os.path.dirname(root + "/a clone/" + name), exist_ok=True)
        shutil.copy(os.path.join(SRC, name), root + "/a clone/" + name)
    script(root + "/a clone/tools/deps", "exit 0\n")
    script(root + "/a clone/tools/build", "exit 0\n")
    script(root + "/bin/ninja", "exit 0\n")
    script(root + "/bin/meson",
           "printf '%%s\\n' \"$@\" \"DESTDIR=$DESTDIR\" >> '%s/called'\n"
           "test ! -e '%s/refuse'\n" % (root, root))


def install(root, *words, path=""):
    home = root + "/my home"
    got = subprocess.run(
        ["make", "-s", "install", *words], cwd=root + "/a clone",
        env={**os.environ, "HOME": home,
             "PATH": "%s/bin:%s%s" % (root, path and path + ":",
                                      os.environ["PATH"])},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False)
    with open(root + "/called", encoding="utf-8") as f:
        called = f.read()
    os.unlink(root + "/called")
    return got.returncode, got.stdout, called


def main():
    with tempfile.TemporaryDirectory(prefix="prony-install-") as root:
        project(root)
        local = root + "/my home/.local"
        status, said, called = install(root, "PREFIX=~/.local")
        check(status == 0 and "-Dprefix=%s\n" % local in called,
              "home: %d %s %s" % (status, said, called))
        check("installed in %s\n" % local in said, "home: " + said)
        check("%s/bin is not on the PATH" % local in said
              and 'export PATH="%s/bin:$PATH"' % local in said,
              "PATH: " + said)
        _, said, _ = install(root, "PREFIX=~/.local", path=local + "/bin")
        check("PATH" not in said, "on the PATH: " + said)
        _, said, called = install(root, "PREFIX=/usr", "DESTDIR=/tmp/x")
        check("PATH" not in said and "installed in /tmp/x/usr" in said
              and "DESTDIR=/tmp/x\n" in called, "DESTDIR: " + said)
        script(root + "/refuse", "")
        status, said, _ = install(root, "PREFIX=%s/none" % root)
        check(status != 0 and "PREFIX=~/.local" in said, "refused: " + said)
    for text in problems:
        print("FAILED " + text)
    sys.exit(1 if problems else 0)


main()
