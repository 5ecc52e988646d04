#!/usr/bin/env python3
"""The lists of sources in the meson.build files name every file there is, in
order. With --fix, writes them."""

import os
import re
import sys

from common import SRC, finish, read

# meson.build, list, folder (relative to that meson.build), pattern.
ROOMS = "base conf storage format loader nn workload launch monitor plan record " \
        "run analyse present study"
LISTS = [("src/meson.build", room + "_sources", room, r".*\.c")
         for room in ROOMS.split()] + [
    ("cli/meson.build", "cli_sources", "", r".*\.c"),
    ("bench/meson.build", "bench_sources", "", r".*\.c"),
    ("tests/meson.build", "unit_sources", "unit", r"test_.*\.c"),
    ("tests/meson.build", "tool_sources", "unit", r".*_tool\.c"),
    # A module that tests share has a name with "_" in front.
    ("tests/meson.build", "peer_tests", "peers", r"[a-z].*\.py"),
    ("tests/meson.build", "robust_tests", "robust", r"[a-z].*\.py"),
    ("tests/fuzz/meson.build", "fuzz_sources", "", r"fuzz_.*\.c"),
]


def there(build, folder, pattern):
    """Names below folder as they are written in build."""
    top = os.path.dirname(os.path.join(SRC, build))
    found = []
    for where, _, names in os.walk(os.path.join(top, folder)):
        found += [os.path.relpath(os.path.join(where, n), top)
                  for n in names if re.fullmatch(pattern, n)]
    return sorted(found)


def listing(name, files):
    return "%s = files(\n%s)\n" % (
        name, "".join("  '%s',\n" % f for f in files))


def main():
    fix = "--fix" in sys.argv[1:]
    problems = []
    number = 0
    for build, name, folder, pattern in LISTS:
        text = read(build)
        want = there(build, folder, pattern)
        number += len(want)
        block = re.compile(r"^%s = files\(\n(.*?)^\)\n" % name, re.M | re.S)
        match = block.search(text)
        if not match and want:
            problems.append("%s: has no list %s" % (build, name))
        if not match or match.group() == listing(name, want):
            continue
        if fix:
            with open(os.path.join(SRC, build), "w", encoding="utf-8") as f:
                f.write(text.replace(match.group(), listing(name, want)))
            print("wrote %s in %s" % (name, build))
            continue
        problems.append("%s: %s is not what is in %s; run "
                        "tests/meta/sources.py --fix"
                        % (build, name, folder or os.path.dirname(build)))
    finish(problems, "%d sources are listed" % number)


main()
