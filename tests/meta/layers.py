#!/usr/bin/env python3
"""Every #include obeys the order of the rooms (ARCHITECTURE.md), and every
source file lives in a room. A planted violation of each kind proves that this
test would see one."""

import re

from common import c_files, finish, line_of, read

# Which rooms each room may use, besides itself.
MAY_USE = {
    "base": "",
    "conf": "base",
    "storage": "base conf",
    "format": "base conf storage",
    "loader": "base conf storage format",
    "nn": "base conf",
    "workload": "base conf storage format loader nn",
    "launch": "base conf",
    "monitor": "base conf launch",
    "plan": "base conf",
    "record": "base conf",
    "run": "base conf workload launch monitor plan record",
    "analyse": "base conf record",
    "present": "base conf record analyse",
    "study": "base conf workload plan record run analyse present",
}

# A plan knows formats and workloads by name, not by what they do.
ALSO = {
    "plan": {"format/format_names.h", "workload/workload_names.h"},
}

# What every file may include besides the C library.
ANYWHERE = re.compile(r"prony/[a-z_]+\.h$|prony_config\.h$")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def included(text):
    """Pairs of line number and name of each #include "..."."""
    return [(line_of(text, m.start()), m.group(1))
            for m in INCLUDE.finditer(text)]


def wrong_in_room(room, name):
    """What is wrong with this #include in that room, or None."""
    if ANYWHERE.match(name) or name in ALSO.get(room, ()):
        return None
    if "/" not in name:
        return "'%s' does not name its room" % name
    other = name.split("/")[0]
    if other == room or other in MAY_USE[room].split():
        return None
    if other not in MAY_USE:
        return "'%s' is in no room" % name
    return "%s/ may not use %s/ (%s)" % (room, other, name)


def check_file(path, text):
    parts = path.split("/")
    if parts[0] == "include":
        return ["%s:%d: a public header includes only public headers" %
                (path, line) for line, name in included(text)
                if not ANYWHERE.match(name) or name == "prony_config.h"]
    if parts[0] == "cli":
        return ["%s:%d: '%s' is in no room" % (path, line, name)
                for line, name in included(text)
                if "/" in name and not ANYWHERE.match(name)
                and name.split("/")[0] not in list(MAY_USE) + ["cli"]]
    if len(parts) < 3 or parts[1] not in MAY_USE:
        return ["%s: is in no room" % path]
    found = []
    for line, name in included(text):
        wrong = wrong_in_room(parts[1], name)
        if wrong:
            found.append("%s:%d: %s" % (path, line, wrong))
    return found


def self_test():
    planted = [
        ("src/base/x.c", '#include "conf/opt.h"\n'),
        ("src/analyse/x.c", '#include "run/sched.h"\n'),
        ("src/conf/x.h", '\n  # include "plan/plan.h"\n'),
        ("src/conf/x.c", '#include "opt.h"\n'),
        ("src/plan/x.c", '#include "workload/command.h"\n'),
        ("src/x.c", ""),
        ("src/misc/x.c", ""),
        ("include/prony/x.h", '#include "base/err.h"\n'),
        ("cli/x.c", '#include "nowhere/x.h"\n'),
    ]
    allowed = [
        ("src/conf/x.c", '#include "base/err.h"\n#include "conf/opt.h"\n'),
        ("src/base/x.c", '#include "prony/error.h"\n#include <conf/x.h>\n'),
        ("src/plan/x.c", '#include "workload/workload_names.h"\n'),
        ("cli/x.c", '#include "cli.h"\n#include "run/sched.h"\n'),
    ]
    return (["self-test: not seen: %s %r" % p for p in planted
             if len(check_file(*p)) != 1]
            + ["self-test: wrongly seen: %s %r" % p for p in allowed
               if check_file(*p)])


def main():
    problems = self_test()
    paths = c_files("src", "cli", "include")
    for path in paths:
        problems += check_file(path, read(path))
    finish(problems, "%d files keep to their rooms" % len(paths))


main()
