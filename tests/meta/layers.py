#!/usr/bin/env python3
"""Every #include obeys the order of the rooms (ARCHITECTURE.md), and so does
every extern function or datum, by whatever header it came: public ones are
seen by all. Of another sub-room nobody sees what is its own (_impl.h). A
planted violation of each kind proves that this test would see one."""

import collections
import re

from common import c_files, finish, line_of, read, strip_c
from functions import functions

# Which rooms each room may use, besides itself.
MAY_USE = {
    "base": "",
    "machine": "base",
    "conf": "base",
    "catalog": "base conf",
    "storage": "base conf",
    "format": "base conf storage",
    "loader": "base conf storage format",
    "probe": "base conf",
    "nn": "base machine conf",
    "job": "base conf catalog storage probe nn",
    "observe": "base conf format",
    "generate": "base conf storage format",
    "checkpoint": "base machine conf storage format",
    "emulate": "base machine conf storage format loader job observe generate "
               "checkpoint",
    "native": "base machine conf storage format loader nn job generate",
    "workload": "base conf catalog nn job native",
    "launch": "base machine conf",
    "monitor": "base machine",
    "record": "base catalog",
    "plan": "base machine conf catalog",
    "run": "base machine conf catalog storage format generate job workload "
           "launch monitor plan record",
    "analyse": "base conf catalog probe record",
    "present": "base catalog record analyse",
    "study": "base machine conf catalog storage format loader generate job "
             "workload launch monitor plan record run analyse present",
}

# (who, module): edges that should not be. docs/internals/README.md says why each
# is there and what takes it away.
EXCEPTIONS = {
    ("job", "analyse/verdict/verdict_probe"),
    ("native", "emulate/emulate"),
    ("native", "emulate/emulate_data"),
    ("run", "emulate/emulate"),
    ("run", "native/images/image_set"),
    ("study", "emulate/emulate"),
}

# A room's own headers that another of its sub-rooms may see.
SHARED_INSIDE = {
    "nn/engine/net_impl.h": "nn/op",
    "analyse/suite/suite_impl.h": "analyse/results",
    "conf/expr/expr_impl.h": "",
}

# What every file may include besides the C library.
ANYWHERE = re.compile(r"prony/[a-z_]+\.h$|prony_config\.h$")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
DATUM = re.compile(r"^(?!static|extern|typedef|struct \w+;|enum|union)"
                   r"[A-Za-z][\w \*]*?\b(pr_\w+)(?:\[[^\]]*\])* = ", re.M)
WORD = re.compile(r"\bpr_\w+")


def included(text):
    """Pairs of line number and name of each #include "..."."""
    return [(line_of(text, m.start()), m.group(1))
            for m in INCLUDE.finditer(text)]


def room_of(path):
    """The room of a file below src/, or None."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[1] in MAY_USE else None


def may_see(room, other):
    """other: a file without src/ in front."""
    of = other.split("/")[0]
    return (of == room or of in MAY_USE[room].split()
            or (room, other.rsplit(".", 1)[0]) in EXCEPTIONS)


def wrong_include(path, name):
    """What is wrong with this #include in that file of a room, or None."""
    room = room_of(path)
    if ANYWHERE.match(name):
        return None
    if "/" not in name:
        return "'%s' does not name its room" % name
    if name.split("/")[0] not in MAY_USE:
        return "'%s' is in no room" % name
    if not may_see(room, name):
        return "%s/ may not use %s/ (%s)" % (room, name.split("/")[0], name)
    sub, own = name.rsplit("/", 1)[0], path[4:].rsplit("/", 1)[0]
    if (name.endswith("_impl.h") and sub != own
            and SHARED_INSIDE.get(name, "") != own
            and not sub.startswith(own + "/")):
        return "%s is %s's own" % (name, sub)
    return None


def check_file(path, text):
    parts = path.split("/")
    if parts[0] == "include":
        return ["%s:%d: a public header includes only public headers" %
                (path, line) for line, name in included(text)
                if not ANYWHERE.match(name) or name == "prony_config.h"]
    if parts[0] in ("cli", "compat"):
        # main() alone knows that there are other command lines than ours.
        ok = list(MAY_USE) + ["cli"] + (
            ["compat"] if "compat" in parts[:1] or path == "cli/main.c" else [])
        return ["%s:%d: '%s' is in no room it may use" % (path, line, name)
                for line, name in included(text)
                if "/" in name and not ANYWHERE.match(name)
                and name.split("/")[0] not in ok]
    if room_of(path) is None:
        return ["%s: is in no room" % path]
    found = []
    for line, name in included(text):
        wrong = wrong_include(path, name)
        if wrong:
            found.append("%s:%d: %s" % (path, line, wrong))
    return found


def defined(files):
    """Extern functions and data: name to the files (there may be two, one for
    either half of an #if) that define it."""
    where = collections.defaultdict(set)
    for path, text in files:
        if not path.endswith(".c") or room_of(path) is None:
            continue
        for name, static, _, _ in functions(text):
            if not static:
                where[name].add(path[4:])
        for m in DATUM.finditer(text):
            where[m.group(1)].add(path[4:])
    return where


def check_uses(files):
    """Words that name what a room may not use."""
    where = defined(files)
    found = []
    for path, text in files:
        room = room_of(path)
        if room is None:
            continue
        for word in sorted(set(WORD.findall(text))):
            at = where.get(word)
            if at and not any(may_see(room, other) for other in at):
                found.append("%s: %s/ may not use %s of %s" % (
                    path, room, word, ", ".join(sorted(at))))
    return found


def self_test():
    planted = [
        ("src/base/x.c", '#include "conf/opt.h"\n'),
        ("src/analyse/x.c", '#include "run/sched.h"\n'),
        ("src/conf/x.h", '\n  # include "plan/plan.h"\n'),
        ("src/conf/x.c", '#include "opt.h"\n'),
        ("src/plan/x.c", '#include "workload/command.h"\n'),
        ("src/analyse/suite/x.c", '#include "analyse/run/run_impl.h"\n'),
        ("src/x.c", ""),
        ("src/misc/x.c", ""),
        ("include/prony/x.h", '#include "base/err.h"\n'),
        ("cli/x.c", '#include "nowhere/x.h"\n'),
        ("cli/x.c", '#include "compat/dlio/dlio.h"\n'),
    ]
    allowed = [
        ("src/conf/x.c", '#include "base/err.h"\n#include "conf/opt.h"\n'),
        ("src/base/x.c", '#include "prony/error.h"\n#include <conf/x.h>\n'),
        ("src/nn/op/x.c", '#include "nn/engine/net_impl.h"\n'),
        ("cli/x.c", '#include "cli.h"\n#include "run/sched.h"\n'),
        ("cli/main.c", '#include "compat/dlio/dlio.h"\n'),
    ]
    seen = check_uses([
        ("src/run/x.c", "int pr_run_x(void)\n{\n}\n"),
        ("src/run/y.c", "const struct pr_z pr_run_y = {\n};\n"),
        ("src/base/x.c", "int pr_x(void)\n{\n    return pr_run_x();\n}\n"),
        ("src/base/y.c", "int pr_y(void)\n{\n    return !!&pr_run_y;\n}\n"),
        ("src/run/z.c", "int pr_z(void)\n{\n    return pr_x();\n}\n"),
    ])
    return (["self-test: not seen: %s %r" % p for p in planted
             if len(check_file(*p)) != 1]
            + ["self-test: wrongly seen: %s %r" % p for p in allowed
               if check_file(*p)]
            + ["self-test: uses seen: %r" % seen for _ in "x"
               if len(seen) != 2])


def main():
    problems = self_test()
    files = [(p, read(p)) for p in c_files("src", "cli", "compat", "include")]
    for path, text in files:
        problems += check_file(path, text)
    problems += check_uses([(p, strip_c(t)) for p, t in files])
    finish(problems, "%d files keep to their rooms" % len(files))


main()
