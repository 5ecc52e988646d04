#!/usr/bin/env python3
"""run.py [--build DIR] [--only A,B] [--json FILE] [--record]: every benchmark of
bench/, or those named, and one scoreboard: what was measured, ours, the peer or
limit, the ratio, the goal, met or missed.

Peers are set up first (setup_peers.py). A benchmark is a program that Meson knows; it
adds a row for each figure to the file $BENCH_ROWS, with its goal (bench.h). Ends
with 0 when all ran, also where goals were missed; with 1 when one broke."""

import argparse
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import time

import setup_peers as peers

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "RESULTS.md")
MINUTES = 40  # all of them; what is not done by then is left out
LAST = ("train", "models")  # which take longest

# Seconds on two cores, to say how long it will take; a machine's own take
# their place once they are known.
SECONDS = {"emulate": 240, "train": 480, "models": 420, "checkpoint": 240,
           "scale": 120, "python": 150, "capacity": 120, "monitor": 60,
           "generate": 60, "read": 60, "parse": 60, "suite-report": 60}
USUAL = 20

# PyTorch's ways with everything turned on that helps; BENCH_HOW= tries all,
# which takes an hour, for compiling.
WAYS = ("tuned fused+tuned channels_last+tuned batched+fused+tuned "
        "frozen+channels_last+tuned compile+tuned compile+channels_last+tuned "
        "compile+fused+tuned batched+compile+fused+tuned "
        "folded+channels_last+tuned")


def benchmarks(build):
    """Name and command of each, as Meson has them."""
    text = subprocess.run(["meson", "introspect", "--benchmarks", build],
                          stdout=subprocess.PIPE, check=True).stdout
    return {b["name"]: b for b in json.loads(text)}


def build_all(build):
    done = subprocess.run(["ninja", "-C", build, "meson-benchmark-prereq"],
                          stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode:
        sys.exit(done.stdout + "bench: the benchmarks cannot be built")


def chosen(known, only):
    names = only.replace(",", " ").split() or sorted(
        known, key=lambda name: LAST.index(name) if name in LAST else -1)
    for name in names:
        if name not in known:
            sys.exit("bench: there is no '%s'; known are %s"
                     % (name, ", ".join(known)))
    return names


def read_rows(path):
    """What a benchmark measured, and what it did not."""
    rows, skipped = [], []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                row = json.loads(line)
                if "skipped" in row:
                    skipped.append(row["skipped"])
                else:
                    rows.append(row)
    return rows, skipped


def run_until(command, seconds, **how):
    """Its status; None: it did not end in time, and was told to. It removes its
    files then."""
    with subprocess.Popen(command, start_new_session=True, **how) as p:
        try:
            return p.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if p.poll() is None:
                p.terminate()
                try:
                    p.wait(timeout=60)
                except subprocess.TimeoutExpired:
                    pass
            try:  # with whatever it left behind
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def run_one(bench, build, folder, env, prony=None, more=(), left=86400):
    """Its status, rows and skips; what it printed is in folder/NAME.txt. prony:
    another program to time; more: words for it; left: seconds it may take."""
    rows, log = (os.path.join(folder, bench["name"] + end)
                 for end in (".rows", ".txt"))
    if os.path.exists(rows):
        os.remove(rows)
    command = [prony if prony and os.path.basename(word) == "prony" else word
               for word in bench["cmd"]]
    with open(log, "w", encoding="utf-8") as out:
        status = run_until(
            [*command, *more], min(left, bench["timeout"]), cwd=build,
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            env={"BENCH_HOW": WAYS, **os.environ, **bench["env"], **env,
                 "BENCH_ROWS": rows})
    found, skipped = read_rows(rows)
    if status is None and left < bench["timeout"]:
        skipped.append("%s: ended after %d minutes of all; ONLY=%s runs it "
                       "to its end" % (bench["name"], MINUTES, bench["name"]))
        status = 0
    if status is None:
        status = "timed out after %d s" % bench["timeout"]
    return (status if status != 77 else 0, found, skipped)


# ---- progress

class Clock:
    """How long each took here the last time, and what is left."""

    def __init__(self, path):
        self.path, self.start = path, time.monotonic()
        self.known = dict(SECONDS)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.known.update(json.load(f))

    def expected(self, names):
        return sum(self.known.get(name, USUAL) for name in names)

    def took(self, name, seconds):
        self.known[name] = round(seconds, 1)
        with open(self.path, "w", encoding="utf-8") as f:
            json.dump(self.known, f)

    def left(self):
        return 60 * MINUTES - (time.monotonic() - self.start)


def duration(seconds):
    return "%.0f s" % seconds if seconds < 90 else "%.0f min" % (seconds / 60)


def tail(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return "".join("    " + line for line in f.readlines()[-8:])


def run_all(names, known, args, env):
    """Rows with the name of their benchmark, skips, and what broke."""
    clock = Clock(os.path.join(args.folder, "seconds.json"))
    rows, skipped, broken = [], [], []
    for i, name in enumerate(names):
        if clock.left() <= 0:
            skipped.append("%s: not begun after %d minutes; ONLY=%s runs it"
                           % (name, MINUTES, name))
            continue
        say("[%2d/%d] %-20s about %s, %s for all that is left" % (
            i + 1, len(names), name, duration(clock.expected([name])),
            duration(clock.expected(names[i:]))))
        start = time.monotonic()
        status, found, missing = run_one(known[name], args.build, args.folder,
                                         env, left=clock.left())
        clock.took(name, time.monotonic() - start)
        rows += [{"bench": name, **row} for row in found]
        skipped += missing
        if status:
            broken.append(name)
            say("        %s is broken: %s\n%s" % (name, status, tail(
                os.path.join(args.folder, name + ".txt"))))
    return rows, skipped, broken, time.monotonic() - clock.start


def say(text):
    print(text, file=sys.stderr, flush=True)


# ---- the scoreboard

def figure(value, unit=""):
    """Three digits that count, or the whole number."""
    size = abs(value)
    places = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return ("%s %s" % (format(value, ",.%df" % places), unit)).strip()


def goal_of(row):
    for key, sign in (("at_least", ">="), ("at_most", "<=")):
        if key in row:
            unit = row["unit"] if row["goal_of"] == "ours" else ""
            return ("%s %s %s" % (sign, format(row[key], ",g"), unit)).strip()
    return "-"


def verdict(row):
    return {True: "met", False: "MISSED"}.get(row.get("met"), "-")


HEAD = ("what", "ours", "peer or limit", "ratio", "goal", "")


def cells(row):
    return (row["what"], figure(row["ours"], row["unit"]),
            "%s: %s" % (row["other_is"], figure(row["other"], row["unit"]))
            if "other" in row else "-",
            figure(row["ratio"]) if "ratio" in row else "-",
            goal_of(row), verdict(row))


LEGEND = ("ratio: ours by the other's; of times with a goal >= the other's by "
          "ours, how many times as fast")


def totals(rows):
    goals = [row for row in rows if "met" in row]
    missed = sum(not row["met"] for row in goals)
    return "%d figures, %d with a goal: %d met, %d missed" % (
        len(rows), len(goals), len(goals) - missed, missed)


def board(rows):
    """The scoreboard as text, one part a benchmark."""
    table = [HEAD] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEAD))]
    last, lines = None, []
    form = "  ".join("%%%s%ds" % ("-" if i in (0, 2, 5) else "", w)
                     for i, w in enumerate(widths))
    lines.append("  " + form % HEAD)
    for row, line in zip(rows, table[1:]):
        if row["bench"] != last:
            lines.append(row["bench"])
            last = row["bench"]
        lines.append(("  " + form % line).rstrip())
    return "\n".join([*lines, "", LEGEND, totals(rows)])


def markdown(rows):
    lines = ["| benchmark | " + " | ".join((*HEAD[:-1], "")) + " |",
             "|---|---|---:|---|---:|---:|---|"]
    lines += ["| %s | %s |" % (row["bench"], " | ".join(cells(row)))
              for row in rows]
    return "\n".join([*lines, "", LEGEND + ".", totals(rows) + "."])


# ---- the machine

def first(path, start):
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith(start):
                return line.split(":", 1)[1].strip()
    return "?"


def output(*command):
    """The first line of what it says; nothing where it cannot."""
    try:
        text = subprocess.run(command, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL, check=True).stdout
        return text.strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return ""


def machine(build, load):
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    system = platform.freedesktop_os_release() if hasattr(
        platform, "freedesktop_os_release") else {}
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime(
            "%Y-%m-%d %H:%M UTC"),
        "commit": output("git", "-C", HERE, "rev-parse", "--short", "HEAD"),
        "prony": output(os.path.join(build, "prony"), "--version"),
        "processors": "%d of %s" % (os.cpu_count(),
                                    first("/proc/cpuinfo", "model name")),
        "memory": "%.0f GB" % (memory / 1e9),
        "system": "%s, Linux %s" % (system.get("PRETTY_NAME", "?"),
                                    platform.release()),
        "load": "%.1f before, %.1f after%s" % (
            load, os.getloadavg()[0], "; the machine had other things to do, "
            "these figures mean little" if load > os.cpu_count() else ""),
        "versions": peers.versions()}


def write_results(path, about, rows, missing):
    with open(path, "w", encoding="utf-8") as f:
        print("# Results\n\nWritten by `make bench-record`; `bench/README.md` "
              "says what each is.\n", file=f)
        for key, value in about.items():
            print("- %s: %s" % (key, value), file=f)
        print("\n%s" % markdown(rows), file=f)
        if missing:
            print("\nNot measured:\n", file=f)
            for line in missing:
                print("- %s" % line, file=f)


def main():
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--build", default="build")
    parse.add_argument("--only", default="")
    parse.add_argument("--json", metavar="FILE", help="besides "
                       "build-bench/last/bench.json")
    parse.add_argument("--record", action="store_true")
    args = parse.parse_args()
    args.build = os.path.abspath(args.build)
    args.folder = os.path.join(peers.FOLDER, "last")
    os.makedirs(args.folder, exist_ok=True)
    known = benchmarks(args.build)
    names = chosen(known, args.only)
    env = peers.set_up(say)
    build_all(args.build)
    load = os.getloadavg()[0]
    rows, skipped, broken, seconds = run_all(names, known, args, env)
    about = machine(args.build, load)
    missing = peers.missing(skipped)
    if rows:
        print(board(rows))
    for line in missing:
        print("not measured: %s" % line)
    for name in broken:
        print("BROKEN: %s, see %s" % (name, os.path.relpath(
            os.path.join(args.folder, name + ".txt"))))
    print("%s on %s; load %s" % (duration(seconds), about["processors"],
                                 about["load"]))
    for path in filter(None, (args.json, os.path.join(args.folder,
                                                      "bench.json"))):
        with open(path, "w", encoding="utf-8") as f:
            json.dump({**about, "rows": rows, "missing": missing,
                       "broken": broken, "seconds": seconds}, f, indent=1)
    if args.record:
        write_results(RESULTS, about, rows, missing)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
