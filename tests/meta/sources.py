#!/usr/bin/env python3
"""The meson.build files name every source file there is, once. With --fix,
takes out those that are gone and adds new ones to the first list."""

import os
import re
import sys

from common import SRC, finish, read

# meson.build, folder relative to it, names of files, names of lists.
PLACES = [
    ("cli/meson.build", ".", r".*\.c", "cli_sources"),
    ("compat/meson.build", ".", r".*\.c", "compat_sources"),
    ("bench/meson.build", ".", r".*\.c", "bench_sources"),
    ("tests/meson.build", "unit", r"test_.*\.c", "unit_sources"),
    ("tests/meson.build", "unit", r".*_tool\.c", "tool_sources"),
    # A module that tests share has a name with "_" in front.
    ("tests/meson.build", "peers", r"[a-z].*\.py", "peer_tests"),
    ("tests/meson.build", "robust", r"[a-z].*\.py", "robust_tests"),
    ("tests/fuzz/meson.build", ".", r"fuzz_.*\.c", "fuzz_sources"),
]
FILE = re.compile(r"^ +'([^']+)',\n", re.M)


def rooms():
    """A room has one meson.build, whose lists may have conditions."""
    return [("src/%s/meson.build" % room, ".", r".*\.c",
             "prony_sources|loop_sources")
            for room in sorted(os.listdir(os.path.join(SRC, "src")))
            if os.path.isdir(os.path.join(SRC, "src", room))]


def there(build, folder, pattern):
    """Names of files as they are written in build."""
    top = os.path.dirname(os.path.join(SRC, build))
    found = []
    for where, _, names in os.walk(os.path.normpath(os.path.join(top,
                                                                 folder))):
        found += [os.path.relpath(os.path.join(where, n), top)
                  for n in names if re.fullmatch(pattern, n)]
    return sorted(found)


def lists_of(text, names):
    """The lists that are assigned or added to any of these names."""
    return list(re.finditer(r"^ *(?:%s) \+?= files\(\n(.*?)^ *\)\n" % names,
                            text, re.M | re.S))


def check(text, names, want):
    """What is wrong with the lists."""
    lists = lists_of(text, names)
    have = [FILE.findall(m.group(1)) for m in lists]
    every = sorted(f for one in have for f in one)
    wrong = ["has no list %s" % names] if want and not lists else []
    wrong += ["does not name " + f for f in want if f not in every]
    wrong += ["names %s, which is not there" % f
              for f in sorted(set(every)) if f not in want]
    wrong += ["names %s twice" % f for f in sorted(set(every))
              if every.count(f) > 1]
    return wrong + ["a list is not in order" for one in have
                    if one != sorted(one)]


def fixed(text, names, want):
    lists = lists_of(text, names)
    every = {f for m in lists for f in FILE.findall(m.group(1))}
    for number, m in reversed(list(enumerate(lists))):
        files = [f for f in FILE.findall(m.group(1)) if f in want]
        if number == 0:
            files += [f for f in want if f not in every]
        indent = re.match(r" *", m.group(1)).group()
        body = "".join("%s'%s',\n" % (indent, f) for f in sorted(set(files)))
        text = text[:m.start(1)] + body + text[m.end(1):]
    return text


def self_test():
    text = "x = files(\n  'a.c',\n)\nif y\n  x += files(\n    'c.c',\n  )\nendif\n"
    return ([] if not check(text, "x", ["a.c", "c.c"])
            and len(check(text, "x", ["a.c", "b.c"])) == 2
            and not check(fixed(text, "x", ["a.c", "b.c", "c.c"]), "x",
                          ["a.c", "b.c", "c.c"])
            else ["self-test: lists are not read as they should be"])


def main():
    problems = self_test()
    number = 0
    for build, folder, pattern, names in rooms() + PLACES:
        want = there(build, folder, pattern)
        number += len(want)
        wrong = check(read(build), names, want)
        if wrong and "--fix" in sys.argv[1:]:
            with open(os.path.join(SRC, build), encoding="utf-8") as f:
                text = fixed(f.read(), names, want)
            with open(os.path.join(SRC, build), "w", encoding="utf-8") as f:
                f.write(text)
            print("wrote " + build)
        else:
            problems += ["%s %s; run tests/meta/sources.py --fix" % (build, w)
                         for w in wrong]
    finish(problems, "%d sources are listed" % number)


main()
