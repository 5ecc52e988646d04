#!/usr/bin/env python3
"""Every row of the option tables: help that ends in a full stop, a version, a
default of its own kind that lies in its range, an example that can be planned.
"""

import argparse
import json
import re
import shlex
import subprocess

from common import finish

KINDS = {"bool": bool, "int": int, "float": (int, float),
         "seconds": (int, float), "size": (int, str), "str": str,
         "list": list, "words": (str, list), "any": object}
UNITS = {"seconds": "s", "size": "bytes"}


def run(prony, *args):
    return subprocess.run([prony, *args], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, check=False)


def wrong_default(row):
    """What is wrong with the default, or None."""
    value = row["default"]
    if isinstance(value, str) and "$" in value:
        return None if row.get("derived") else "is computed, but not DERIVED"
    if not isinstance(value, KINDS[row["kind"]]):
        return "%r is not of kind %s" % (value, row["kind"])
    if "choices" in row and value not in row["choices"]:
        return "%r is none of %s" % (value, row["choices"])
    if "min" in row and not row["min"] <= value <= row["max"]:
        return "%r is not within %s and %s" % (value, row["min"], row["max"])
    return None


def wrong_words(row):
    if not re.search(r"[.]$", row.get("help", "")):
        yield "its help does not end in a full stop"
    if re.search(r"\s\s|^\s", row.get("help", "")):
        yield "its help has stray blanks"
    if not re.fullmatch(r"\d+\.\d+", row.get("since", "")):
        yield "since is no version"
    if row["kind"] in UNITS and row.get("unit") != UNITS[row["kind"]]:
        yield "its unit is not '%s'" % UNITS[row["kind"]]
    want = "PRONY_" + row["name"].upper().replace(".", "_")
    if not row.get("prefix") and row.get("env") != want:
        yield "its environment variable is not " + want


def check(row):
    found = list(wrong_words(row))
    if not row.get("prefix") and wrong_default(row):
        found.append("default: " + wrong_default(row))
    if "min" in row and not row["min"] < row["max"]:
        found.append("min is not below max")
    return ["%s: %s" % (row["name"], what) for what in found]


def check_example(prony, row):
    """The example sets the parameter, and to something."""
    words = shlex.split(row["example"])
    name = words[0].split("=")[0]
    if len(words) != 1 or not (
            name == row["name"] or name.startswith(row["name"] + ".")):
        return ["%s: odd example %s" % (row["name"], row["example"])]
    command = [] if name == "exp.command" else ["-P", 'exp.command="true"']
    got = run(prony, "plan", *command, words[0], "--format", "json")
    if got.returncode:
        return ["prony plan %s: %s" % (row["example"], got.stderr.strip())]
    plan = json.loads(got.stdout)
    if name not in plan["experiments"][0]["params"]:
        return ["prony plan %s: did not set it" % row["example"]]
    return []


def self_test():
    good = {"name": "a.b", "kind": "int", "default": 3, "min": 1, "max": 9,
            "since": "0.1", "help": "Words.", "env": "PRONY_A_B"}
    planted = [{"help": "Words"}, {"default": 0}, {"default": "3"},
               {"default": "$(1)$"}, {"since": ""}, {"env": "A"}, {"max": 1},
               {"kind": "seconds"}, {"choices": [1, 2]}, {"help": "A  b."}]
    return (["self-test: not seen: %s" % change for change in planted
             if not check({**good, **change})]
            + ["self-test: wrongly seen: " + p for p in check(good)])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--prony", required=True)
    prony = p.parse_args().prony
    rows = json.loads(run(prony, "help", "--params",
                          "--format", "json").stdout)
    problems = self_test()
    if len(rows) < 50:
        problems.append("only %d parameters" % len(rows))
    names = [row["name"] for row in rows]
    if names != sorted(set(names)):
        problems.append("the names are not sorted, or not unique")
    for row in rows:
        problems += check(row) + check_example(prony, row)
    finish(problems, "%d parameters" % len(rows))


main()
