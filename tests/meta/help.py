#!/usr/bin/env python3
"""The help of every verb: there on stdout, examples, at most 80 columns, the
same by -h; a wrong option or verb is a usage error that speaks on stderr."""

import argparse
import re
import subprocess

from common import finish

WIDTH = 80


class Program:
    def __init__(self, path):
        self.path = path
        self.problems = []

    def run(self, *args):
        return subprocess.run([self.path, *args], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=30, check=False)

    def expect(self, args, good, what):
        if not good:
            self.problems.append("prony %s: %s" % (" ".join(args), what))

    def answers(self, *args):
        """Runs it; the answer must be on stdout, status 0, narrow."""
        got = self.run(*args)
        self.expect(args, got.returncode == 0,
                    "exit status %d" % got.returncode)
        self.expect(args, got.stdout != "", "nothing on stdout")
        self.expect(args, got.stderr == "", "speaks on stderr")
        for line in got.stdout.splitlines():
            self.expect(args, len(line) <= WIDTH, "too wide: " + line)
        return got.stdout

    def refuses(self, *args):
        got = self.run(*args)
        self.expect(args, got.returncode == 2,
                    "exit status %d, expected 2" % got.returncode)
        self.expect(args, got.stdout == "", "speaks on stdout")
        self.expect(args, got.stderr.startswith("prony: "),
                    "no 'prony: ...' on stderr")


def check_verb(prony, verb):
    text = prony.answers(verb, "--help")
    args = (verb, "--help")
    prony.expect(args, re.search(r"^\s*(\$ )?prony %s\b" % verb, text, re.M),
                 "no example 'prony %s ...' on a line of its own" % verb)
    prony.expect(args, re.search(r"\bexamples?\b", text, re.I),
                 "does not say 'examples'")
    prony.expect(args, prony.answers(verb, "-h") == text,
                 "-h says something else")
    prony.refuses(verb, "--no-such-option-at-all")


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--prony", required=True)
    prony = Program(p.parse_args().prony)
    verbs = prony.run("__verbs").stdout.split()
    prony.expect(("__verbs",), "plan" in verbs and "run" in verbs,
                 "lists '%s'" % " ".join(verbs))
    text = prony.answers("--help")
    prony.expect(("--help",), prony.answers("-h") == text,
                 "-h says something else")
    prony.expect(("--version",), re.match(r"prony \d+\.\d+\.\d+",
                                          prony.answers("--version")),
                 "is not 'prony X.Y.Z'")
    for verb in verbs:
        check_verb(prony, verb)
    prony.refuses("no-such-verb")
    prony.refuses("--no-such-option")
    finish(prony.problems, "%d verbs" % len(verbs))


main()
