#!/usr/bin/env python3
"""bench.py BENCH_SUITE_REPORT: `make bench` and `make bench-against` with made-up
benchmarks and peers: what ran, what broke and what is missing is told apart; a
goal is met or missed in the right direction; an older program that is faster is
seen."""

import contextlib
import glob
import io
import json
import os
import stat
import subprocess
import sys

from _robust import PRONY, Scratch

SRC = os.environ["SRC"]
sys.path.insert(0, os.path.join(SRC, "bench"))

import against  # noqa: E402
import run  # noqa: E402
import setup_peers  # noqa: E402

s = Scratch()
PEERS = os.path.join(SRC, "bench", "peers")


def script(name, text):
    path = s.path(name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def rows_of(path):
    rows, skipped = run.read_rows(path)
    return {row["what"]: row for row in rows}, skipped


# ---- a benchmark whose peer cannot run still measures ours

def without_numpy(program):
    env = {**os.environ, "PYTHON": script("python", "#!/bin/sh\nexit 1\n"),
           "BENCH_ROWS": s.path("rows"), "BENCH_ROUNDS": "1"}
    env.pop("PRONY_MILARUN", None)
    done = subprocess.run([program, PRONY, PEERS, "report"], env=env,
                          check=False, stdout=subprocess.DEVNULL)
    s.check(done.returncode == 0, "bench_suite_report without numpy ends with "
            "%d" % done.returncode)
    rows, skipped = rows_of(s.path("rows"))
    row = rows.get("report with HTML of 1,440 results", {})
    s.check(row.get("ours", 0) > 0 and "met" not in row and "other" not in row,
            "ours alone is no row: %s" % row)
    lines = setup_peers.missing(skipped)
    s.check([line.split(":")[0] for line in lines] == ["milarun", "pandas"],
            "skips are not one line a peer: %s" % lines)


# ---- the scoreboard

ROWS = [
    {"what": "rate", "ours": 5.0, "unit": "MB/s", "better": "more",
     "other_is": "grep", "other": 10.0, "ratio": 0.5, "goal_of": "ratio",
     "at_least": 0.4, "met": True},
    {"what": "time", "ours": 8.0, "unit": "ms", "better": "less",
     "other_is": "nothing", "other": 2.0, "ratio": 4.0, "goal_of": "ratio",
     "at_most": 3, "met": False},
    {"what": "memory", "ours": 1234.5, "unit": "MB", "better": "less"},
]
EMIT = ("#!%s\nimport os, json\nwith open(os.environ['BENCH_ROWS'], 'a') as f:"
        "\n    for row in %r:\n        print(json.dumps(row), file=f)\n")


def known(**programs):
    return {name: {"name": name, "cmd": command, "env": {}, "timeout": 60}
            for name, command in programs.items()}


def call(main, *words):
    """Exit status and what it printed."""
    out = io.StringIO()
    sys.argv = ["bench", "--build", s.path(), *words]
    with contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(io.StringIO()):
        try:
            main()
            status = 0
        except SystemExit as e:
            status = e.code
    return status, out.getvalue()


def scoreboard():
    good = script("good", EMIT % (sys.executable, ROWS))
    skips = script("skips", EMIT % (sys.executable, [
        {"skipped": "%d: torch_read.py: No module named 'torch'" % i}
        for i in range(40)]))
    broken = script("broken", "#!/bin/sh\necho why it broke\nexit 3\n")
    run.benchmarks = lambda build: known(good=[good], skips=[skips],
                                         broken=[broken])
    run.build_all = lambda build: None
    run.RESULTS = s.path("RESULTS.md")
    setup_peers.set_up = lambda say: {}
    setup_peers.FOLDER = s.path("build-bench")
    status, text = call(run.main, "--only", "good,skips", "--json",
                        s.path("out.json"))
    s.check(status == 0, "a goal that is missed ends with %s" % status)
    for words in ("rate 5.00 MB/s grep: 10.0 MB/s 0.500 >= 0.4 met",
                  "time 8.00 ms nothing: 2.00 ms 4.00 <= 3 MISSED",
                  "memory 1,234 MB - - - -",
                  "3 figures, 2 with a goal: 1 met, 1 missed"):
        s.check(words in " ".join(text.split()), "no '%s' in\n%s"
                % (words, text))
    s.check(text.count("not measured") == 1 and "39 more" in text,
            "forty skips of one peer are not one line:\n%s" % text)
    with open(s.path("out.json"), encoding="utf-8") as f:
        got = json.load(f)
    s.check([r["what"] for r in got["rows"]] == ["rate", "time", "memory"] and
            got["rows"][0]["bench"] == "good" and got["processors"],
            "JSON lacks something: %s" % got)
    s.check(not os.path.exists(run.RESULTS), "results without --record")
    status, text = call(run.main, "--record")
    s.check(status == 1 and "BROKEN: broken" in text,
            "a broken benchmark ends with %s" % status)
    with open(run.RESULTS, encoding="utf-8") as f:
        text = f.read()
    s.check("- commit: " in text and "| good | time | 8.00 ms |" in text,
            "results are not recorded:\n%s" % text)
    status, _ = call(run.main, "--only", "good,nonsense")
    s.check("nonsense" in str(status), "a name that is none: %s" % status)


# ---- one that takes too long

def too_long():
    sleeps = script("sleeps", "#!%s\nimport os, json, time\n"
                    "with open(os.environ['BENCH_ROWS'], 'a') as f:\n"
                    "    print(json.dumps(%r), file=f)\n"
                    "time.sleep(600)\n" % (sys.executable, ROWS[0]))
    bench = known(sleeps=[sleeps])["sleeps"]
    status, rows, skipped = run.run_one(bench, s.path(), s.path(), {}, left=1)
    s.check(status == 0 and "ONLY=sleeps" in skipped[-1],
            "out of time: %s %s %s" % (status, rows, skipped))
    bench["timeout"] = 0.1
    status, rows, skipped = run.run_one(bench, s.path(), s.path(), {})
    s.check("timed out" in str(status), "it hangs, and is not broken: %s"
            % status)


# ---- DLIO's account of its epochs, under both of its names

FAKE = """#!%s
import json, os, sys
config = os.path.join(sys.argv[2], "workload", "bench.yaml")
text = open(config).read()
assert "\\n  record_length_bytes: 20971520\\n" in text, text
assert "\\n  record_length: 20971520\\n" in text, text
folder = [w for w in sys.argv if w.startswith("hydra.run.dir=")][0][14:]
os.makedirs(folder)
epoch = {"block1": {"start": "2026-01-01T00:00:00.0",
                    "end": "2026-01-01T00:00:02.0"}}
with open(os.path.join(folder, %r), "w") as f:
    json.dump({"1": epoch}, f)
with open(os.path.join(folder, "summary.json"), "w") as f:
    json.dump({"num_files_train": 4, "num_samples_per_file": 2}, f)
"""


def dlio():
    for name in ("per_epoch_stats.json", "0_per_epoch_stats.json"):
        fake = script("dlio", FAKE % (sys.executable, name))
        folder = s.path(name + ".d")
        os.makedirs(folder)
        done = subprocess.run(
            [sys.executable, os.path.join(PEERS, "dlio_run.py"), "0", fake,
             os.path.join(PEERS, "unet3d.yaml"), folder, folder, "npz"],
            input="go\n", text=True, stdout=subprocess.PIPE, check=False)
        words = done.stdout.split()
        s.check(words[:2] == ["ready", "0.25"], "%s: %s" % (name, words))


# ---- an older program

TIMED = """#!%s
import json, os, sys
slow = os.path.basename(os.path.dirname(sys.argv[1])) != "older"
with open(os.environ["BENCH_ROWS"], "a") as f:
    for what, unit, ours in (("plan", "ms", 1.0 + slow), ("memory", "MB", 1.0),
                             ("rate", "GB/s", 2.0)):
        noise = 1 + os.getpid() %% 7 / 2000
        print(json.dumps({"what": what, "unit": unit, "ours": ours * noise,
                          "better": "-"}), file=f)
"""


def older():
    timed = script("timed", TIMED % sys.executable)
    os.makedirs(s.path("older"))
    os.symlink(PRONY, s.path("older", "prony"))
    os.symlink(PRONY, s.path("prony"))
    against.revision = lambda rev: rev
    against.Older = lambda commit: contextlib.nullcontext(
        s.path("older", "prony"))
    against.run.benchmarks = lambda build: known(plan=[timed, "./prony"],
                                                 train=[timed, "./prony"])
    against.subprocess = Kept
    status, _ = call(against.main, "--fail-if", "slower:5%", "abc")
    s.check(status == 7, "twice as long is not slower: %s\n%s"
            % (status, Kept.text))
    lines = {line.split("  ")[0]: line for line in Kept.text.splitlines()}
    s.check(lines.get("plan: plan", "").endswith("slower") and
            lines.get("plan: rate", "").endswith("same") and
            "memory" not in Kept.text and "train" not in Kept.text,
            "the verdict is wrong:\n%s" % Kept.text)


class Kept:
    """subprocess, whose output can be looked at."""
    text = ""

    @staticmethod
    def run(*args, **more):
        done = subprocess.run(*args, stdout=subprocess.PIPE, text=True, **more)
        Kept.text = done.stdout
        return done


def scripts():
    """What no other test starts can at least be read."""
    for path in glob.glob(os.path.join(SRC, "bench", "**", "*.py"),
                          recursive=True):
        with open(path, encoding="utf-8") as f:
            try:
                compile(f.read(), path, "exec")
            except SyntaxError as e:
                s.check(False, str(e))


scripts()
without_numpy(sys.argv[1])
scoreboard()
too_long()
dlio()
older()
s.finish("benchmarks: rows, goals, peers that are missing, older programs")
