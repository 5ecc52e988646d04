#!/usr/bin/env python3
"""bench_python.py [cost|numbers|jpeg|npz]...: the figures of the Python
package, against benchy, PyTorch's DataLoader, a bare loop and a bare codec.

benchy is run from a checkout that $PRONY_BENCHY names, with torch.cuda replaced
by functions that do nothing; without one, what benchy's documents say it does
per batch is done by a stand-in, and the line says so. PyTorch is that of this
interpreter, $PRONY_TORCH_PYTHON or build/venv."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.dirname(HERE)
EXT = os.environ.get("PYTHON_EXT") or os.path.join(SRC, "build", "python")
PEER = os.path.join(HERE, "peers", "probe_loop.py")
BENCHY = os.environ.get("PRONY_BENCHY", "")
CODEC = os.environ.get("BARE_CODEC") or os.path.join(SRC, "build", "bench",
                                                     "bare_codec")


def python():
    for name in (os.environ.get("PRONY_TORCH_PYTHON"),
                 os.path.join(SRC, "build", "venv", "bin", "python"),
                 sys.executable):
        if name and os.access(name, os.X_OK) and subprocess.run(
                [name, "-c", "import torch"], check=False,
                capture_output=True).returncode == 0:
            return name
    print("no PyTorch: \"make python-deps\", or set PRONY_TORCH_PYTHON")
    say({"skipped": "the Python package: No module named 'torch'"})
    sys.exit(77)


def ask(who, what, *args, config=None):
    """What a contender answers, among lines of its own."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(
            [os.path.join(SRC, "python"), EXT]), "OMP_NUM_THREADS": "1"}
        if config:
            env["BENCHY_CONFIG_FILE"] = os.path.join(folder, "c.yaml")
            with open(env["BENCHY_CONFIG_FILE"], "w", encoding="utf-8") as f:
                f.write(config)
        done = subprocess.run([PYTHON, PEER, who, what, *map(str, args)],
                              cwd=folder, env=env, text=True, check=False,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    if done.returncode:
        sys.exit("%s %s: exit status %d" % (who, what, done.returncode))
    return json.loads(done.stdout.split("ANSWER ")[1].splitlines()[0])


def say(row):
    """As bench_row() and bench_skip() of bench.h do."""
    if os.environ.get("BENCH_ROWS"):
        with open(os.environ["BENCH_ROWS"], "a", encoding="utf-8") as f:
            print(json.dumps(row), file=f)


def line(what, ours, unit, other_is, other, cost=False, **goal):
    """goal: at_least or at_most, of the ratio; without another, of ours."""
    row = {"what": what, "ours": ours, "unit": unit,
           "better": "less" if cost else "more", **goal}
    words = "%s: %.4g %s" % (what, ours, unit)
    if other:
        row.update(other_is=other_is, other=other,
                   ratio=other / ours if cost and "at_least" in goal
                   else ours / other)
        words += ", %s %.4g %s, ratio %.2f" % (other_is, other, unit,
                                               row["ratio"])
    if goal:
        value = row.get("ratio", ours)
        row["goal_of"] = "ratio" if other else "ours"
        row["met"] = (value >= goal["at_least"] if "at_least" in goal
                      else value <= goal["at_most"])
        words += " (goal: %s %g) %s" % (
            "at least" if "at_least" in goal else "at most",
            next(iter(goal.values())), "met" if row["met"] else "missed")
    print(words, flush=True)
    say(row)


# ---- what the wrapper adds to a batch

COST = """
global: { report_freq: 0, exit_after_tests: False, profiler_mode: none,
          output_dir: '.', output_filename: out.json,
          use_distributed_barrier: False }
IO: { run_benchmark: False }
synthetic: { run_benchmark: False }
full: { run_benchmark: True, nbatches: 100000, ntrials: 1, nwarmup: 1 }
"""


def cost():
    rows = {who: min(ask(who, "cost", config=COST) for _ in range(5))
            for who in ("bare", "prony", "benchy")}
    ours, theirs = (1e6 * (rows[who] - rows["bare"])
                    for who in ("prony", "benchy"))
    line("cost of a batch in FULL", ours, "us", "", 0, cost=True, at_most=2)
    line("cost of a batch in FULL", ours, "us", NAME, theirs, cost=True,
         at_least=2)


# ---- the three numbers of one script

NUMBERS = """
global: { report_freq: 0, exit_after_tests: False, profiler_mode: none,
          output_dir: '.', output_filename: out.json,
          use_distributed_barrier: False }
IO: { run_benchmark: True, nbatches: 20, ntrials: 1, nwarmup: 1 }
synthetic: { run_benchmark: True, nbatches: 20, ntrials: 1, nwarmup: 1 }
full: { run_benchmark: True, nbatches: 20, ntrials: 1, nwarmup: 1 }
"""


def numbers():
    seen = {"prony": [], "benchy": []}
    for i in range(10):
        for who in sorted(seen, reverse=i % 2 == 0):
            seen[who].append(ask(who, "numbers", config=NUMBERS))
    for phase in ("IO", "SYNTHETIC", "FULL"):
        a, b = ([x[phase] for x in seen[who]] for who in ("prony", "benchy"))
        means = statistics.mean(a), statistics.mean(b)
        spread = statistics.stdev(a), statistics.stdev(b)
        line("%s, the same number" % phase, means[0], "samples/s", NAME,
             means[1])
        line("%s, difference by spread" % phase,
             abs(means[0] - means[1]) / max(spread), "", "", 0, cost=True,
             at_most=1)


# ---- the native loader

def against_torch(what, folder, goal):
    """A quarter of an epoch tells which number of workers is best; that and
    ours are timed over whole epochs, in turn."""
    theirs = {w: ask("torch", what, folder, w, .25) for w in (0, 1, 2)}
    best = max(theirs, key=theirs.get)
    ours = ask("prony", what, folder)
    theirs[best] = max(theirs[best], ask("torch", what, folder, best, 1))
    ours = max(ours, ask("prony", what, folder))
    for w, rate in theirs.items():
        if w != best:
            print("DataLoader, %d workers: %.5g samples/s" % (w, rate))
    line("prony.Loader, " + what, ours, "samples/s",
         "DataLoader, %d workers" % best, theirs[best], at_least=goal)
    return ours


def bare_codec(folder):
    """Pictures a second by turbojpeg and as many threads as our loader has;
    0: there is no such program."""
    threads = len(os.sched_getaffinity(0))
    done = subprocess.run(
        [CODEC, os.path.join(folder, "train", "a"), "jpeg", str(threads)],
        text=True, stdout=subprocess.PIPE, check=False) if os.access(
            CODEC, os.X_OK) else None
    return float(done.stdout) if done and done.returncode == 0 else 0


def against_codec(folder, ready):
    """Decoding alone, the same work; then all that training needs."""
    codec, ours = 0, 0
    for _ in range(2):
        codec = max(codec, bare_codec(folder))
        ours = max(ours, ask("prony", "decode", folder))
    if not codec:
        print("no bare codec: \"ninja -C build bench/bare_codec\"")
        say({"skipped": "prony.Loader: no bare codec"})
        return
    for what, rate in (("decoded", ours), ("cropped, resized", ready)):
        line("prony.Loader, " + what, rate, "samples/s", "turbojpeg alone",
             codec, at_least=.9)


def with_folder(what, measure):
    top = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="prony-bench.", dir=top)
    try:
        ask("make", what, folder)
        measure(folder)
    finally:
        shutil.rmtree(folder)


def jpeg():
    with_folder("jpeg", lambda folder: against_codec(
        folder, against_torch("jpeg", folder, 1.3)))


def npz():
    with_folder("npz", lambda folder: against_torch("npz", folder, 3))


NAME = "benchy" if BENCHY else "a stand-in for benchy"
PYTHON = python()
for section in sys.argv[1:] or ("cost", "numbers", "jpeg", "npz"):
    {"cost": cost, "numbers": numbers, "jpeg": jpeg, "npz": npz}[section]()
