#!/usr/bin/env python3
"""Calls, words and comments that have no place here. Planted ones prove that
this test would see them."""

import re

from common import c_files, finish, line_of, project_files, read, strip_c

UNSAFE = ("strcpy strcat gets strtok system popen alloca tmpnam mktemp "
          "abort").split()
ALLOCATE = ("malloc calloc realloc reallocarray strdup strndup asprintf "
            "vasprintf free").split()
PRINT = "printf vprintf puts putchar perror exit".split()

# Calls banned in a folder: (names, files where they are the job, why).
CALLS = {
    "src": [
        (UNSAFE, (), "is unsafe"),
        (["sprintf", "vsprintf"], ("src/base/value.c",), "is unsafe"),
        (ALLOCATE, ("src/base/mem.c",), "goes through base/mem.h"),
        (PRINT, (), "is the program's business, not the library's"),
    ],
    "tests": [
        (["skip"], ("tests/unit/skip.h",), "says no reason: skip_because()"),
    ],
    "cli": [
        (UNSAFE + ["sprintf", "vsprintf"], (), "is unsafe"),
    ],
    "compat": [
        (UNSAFE + ["sprintf", "vsprintf"], (), "is unsafe"),
    ],
}
# What takes its time from the clock that it is handed, but for what is the
# machine's own affair.
CLOCKS = "pr_clock_ns clock_gettime nanosleep clock_nanosleep usleep".split()
HANDED = ("src/loader/", "src/run/", "src/storage/", "src/checkpoint/",
          "src/emulate/", "src/native/replica/")
MACHINES = ("src/loader/loader.c", "src/probe/probe.c",
            "src/checkpoint/checkpoint_file.c")
STREAMS = re.compile(r"\b(stdout|stderr)\b")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")
# Folders of some developer's machine. Written in pieces: this file is read,
# too.
MACHINE = re.compile(r"(?<![\w.$}*-])/(?:" + "wo" + "rk|ro" + "ot)/[\\w.]"
                     + "|/ho" + r"me/(?!user\b|me\b)\w")
TEXT = (".c", ".h", ".def", ".py", ".sh", ".md", ".yaml", ".yml", ".json",
        ".build", ".txt", ".in")


def call(names):
    return re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(names))


def check_c(path, text):
    found = []
    code = strip_c(text)
    for names, homes, why in CALLS.get(path.split("/")[0], ()):
        for m in call(names).finditer(code):
            if path not in homes:
                found.append("%s:%d: %s() %s" % (
                    path, line_of(code, m.start()), m.group(1), why))
    if path.startswith(HANDED) and path not in MACHINES:
        for m in call(CLOCKS).finditer(code):
            found.append("%s:%d: %s() goes through struct pr_clock" % (
                path, line_of(code, m.start()), m.group(1)))
    if path.startswith("src/"):
        for m in STREAMS.finditer(code):
            found.append("%s:%d: the library does not write to %s" % (
                path, line_of(code, m.start()), m.group(1)))
    code = strip_c(text, keep_line_comments=True)
    for m in re.finditer("//", code):
        found.append("%s:%d: comments are /* */" % (
            path, line_of(code, m.start())))
    return found


def check_text(path, text):
    found = []
    for m in UNFINISHED.finditer(text):
        found.append("%s:%d: %s without its issue, as in %s(#12)" % (
            path, line_of(text, m.start()), m.group(), m.group()))
    for m in MACHINE.finditer(text):
        found.append("%s:%d: a path of one machine: %s" % (
            path, line_of(text, m.start()), m.group()))
    return found


def self_test():
    planted = [
        (check_c, "src/conf/x.c", "strcpy(a, b);"),
        (check_c, "src/conf/x.c", "p = malloc (3);"),
        (check_c, "src/conf/x.c", "sprintf(a, b);"),
        (check_c, "src/conf/x.c", 'printf("x");'),
        (check_c, "src/conf/x.c", "fputs(a, stderr);"),
        (check_c, "src/conf/x.c", "exit(1);"),
        (check_c, "src/conf/x.c", "int a; // why"),
        (check_c, "cli/x.c", "system(a);"),
        (check_c, "src/run/x.c", "now = pr_clock_ns();"),
        (check_c, "tests/unit/x.c", "if (!there) skip();"),
        (check_text, "a.md", "TO" + "DO: more"),
        (check_text, "a.c", '"/wo' + 'rk/main"'),
        (check_text, "a.c", '"/ho' + 'me/joe"'),
    ]
    allowed = [
        (check_c, "src/base/mem.c", "p = malloc(3);"),
        (check_c, "src/conf/x.c", "pr_free(a); v->free(a); v.exit(1);"),
        (check_c, "src/conf/x.c", '/* free(a) */ f("// malloc(1)");'),
        (check_c, "src/conf/x.c", "_exit(127); snprintf(a, 1, b);"),
        (check_c, "cli/x.c", 'printf("x");'),
        (check_c, "src/monitor/x.c", "now = pr_clock_ns();"),
        (check_c, "tests/unit/x.c", 'skip_because("no x; install it");'),
        (check_text, "a.c", "TO" + "DO(#12): see $TMP/wo" + "rk/x, /tmp/x"),
    ]
    return (["self-test: not seen: %r" % t for f, p, t in planted
             if len(f(p, t)) != 1]
            + ["self-test: wrongly seen: %r" % t for f, p, t in allowed
               if f(p, t)])


def main():
    problems = self_test()
    for path in c_files("src", "cli", "compat", "include", "tests",
                        "bench"):
        problems += check_c(path, read(path))
    paths = [p for p in project_files()
             if p.endswith(TEXT) and p != "tests/meta/banned.py"
             and not p.startswith("tests/fuzz/corpus/")]
    for path in paths:
        problems += check_text(path, read(path))
    finish(problems, "%d files without a banned call or word" % len(paths))


main()
