#!/usr/bin/env python3
"""against.py [--build DIR] [--only A,B] [--repeat N] [--fail-if RULES] [REV]: the
program of an older commit and the one that is built here, by the program's own
benchmarks, in turn, and what `prony compare` says of it: faster, slower, the
same or unclear.

The older one is built in a worktree in a temporary folder, which is removed
again, and driven by the newer benchmarks: all that it has to have is its command
line. REV is the last tag unless given, or else the commit that bench/RESULTS.md
was recorded with."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import setup_peers as peers
import run

TOP = os.path.dirname(run.HERE)
REPEATS = 5

# The program's own benchmarks, and those sections that need no gigabytes.
OWN = {"start": (), "plan": (), "run": (), "parse": (),
       "scale": ("samples", "accelerators", "names", "nothing"),
       "emulate": ("unet3d", "npz", "jpeg"), "suite-report": ("report",)}

TIMES = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def git(*words):
    return subprocess.run(["git", "-C", TOP, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout.strip()


def recorded():
    """The commit that bench/RESULTS.md names."""
    if not os.path.exists(run.RESULTS):
        return ""
    with open(run.RESULTS, encoding="utf-8") as f:
        found = re.search(r"^- commit: (\w+)", f.read(), re.MULTILINE)
    return found.group(1) if found else ""


def revision(given):
    rev = given or git("describe", "--tags", "--abbrev=0") or recorded()
    if not rev:
        sys.exit("bench: against what? There is no tag and no "
                 "bench/RESULTS.md; say REV=commit")
    commit = git("rev-parse", "--verify", "--short", rev + "^{commit}")
    if not commit:
        sys.exit("bench: there is no commit '%s'" % rev)
    return commit


class Older:
    """A commit's program, built in a worktree that is removed at the end."""

    def __init__(self, commit):
        self.commit = commit

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="prony-against.")
        self.tree = os.path.join(self.folder, self.commit)
        try:
            subprocess.run(["git", "-C", TOP, "worktree", "add", "-q",
                            "--detach", self.tree, self.commit], check=True)
            subprocess.run(["tools/build", "build", "-Dtests=false"],
                           cwd=self.tree, check=True, stdout=sys.stderr,
                           env={**os.environ, "TARGETS": "prony"})
        except (OSError, subprocess.CalledProcessError) as e:
            self.__exit__()
            sys.exit("bench: %s cannot be built: %s" % (self.commit, e))
        return os.path.join(self.tree, "build", "prony")

    def __exit__(self, *_):
        git("worktree", "remove", "--force", self.tree)
        subprocess.run(["rm", "-rf", self.folder], check=False)
        git("worktree", "prune")


def experiment(bench, row, repeat):
    """A row as a result that `prony compare` reads; None: it is no speed."""
    test = {"exp.benchmark": "%s: %s" % (bench, row["what"]),
            "exp.repeat": repeat}
    if row["unit"] in TIMES:
        return {**test, "results.time": row["ours"] * TIMES[row["unit"]]}
    if row["unit"].endswith("/s"):
        scale = {"GB/s": 1e9, "MB/s": 1e6}.get(row["unit"], 1)
        return {**test, "results.throughput": row["ours"] * scale}
    return None


def measure(bench, args, prony, repeat):
    """What one program makes of one benchmark, without any peer."""
    status, rows, _ = run.run_one(
        bench, args.build, args.folder,
        {"BENCH_OURS": "1", "BENCH_ROUNDS": "1"}, prony, OWN[bench["name"]])
    if status:
        run.say("        %s fails with %s" % (
            bench["name"], os.path.relpath(prony, TOP)))
    found = {}
    for row in rows:
        result = experiment(bench["name"], row, repeat)
        if result:
            found.setdefault(result["exp.benchmark"], result)
    return list(found.values())


def interleave(known, names, args, programs):
    """Results of each program; who is first changes from one to the next."""
    results, turn, start = ([], []), 0, time.monotonic()
    for repeat in range(1, args.repeat + 1):
        for name in names:
            for i in (0, 1) if turn % 2 == 0 else (1, 0):
                results[i].extend(measure(known[name], args, programs[i],
                                          repeat))
            turn += 1
        spent = time.monotonic() - start
        run.say("bench: repeat %d of %d, about %s left" % (
            repeat, args.repeat, run.duration(
                spent / repeat * (args.repeat - repeat))))
    return results


def compare(args, commit, results):
    """prony compare's verdict, and its status."""
    paths = [os.path.join(args.folder, name + ".json")
             for name in (commit, "this")]
    for path, result in zip(paths, results):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
    command = [os.path.join(args.build, "prony"), "compare", *paths]
    if args.fail_if:
        command += ["--fail-if", args.fail_if]
    return subprocess.run(command, check=False).returncode


def main():
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--build", default="build")
    parse.add_argument("--only", default="")
    parse.add_argument("--repeat", type=int, default=REPEATS)
    parse.add_argument("--fail-if", default="")
    parse.add_argument("rev", nargs="?", default="")
    args = parse.parse_args()
    args.build = os.path.abspath(args.build)
    args.folder = os.path.join(peers.FOLDER, "against")
    os.makedirs(args.folder, exist_ok=True)
    commit = revision(args.rev)
    known = {name: bench for name, bench in run.benchmarks(args.build).items()
             if name in OWN}
    names = run.chosen(known, args.only)
    run.build_all(args.build)
    run.say("bench: building %s" % commit)
    with Older(commit) as older:
        results = interleave(known, names, args,
                             (older, os.path.join(args.build, "prony")))
    sys.exit(compare(args, commit, results))


if __name__ == "__main__":
    main()
