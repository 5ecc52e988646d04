#!/usr/bin/python3
"""prony.wrap, without any framework: what the loop sees, what is written, and
what becomes of loops that end otherwise than by their end."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from _python import FEW, PATH, environment, need_extension, run, start
from _tap import check, end

need_extension()

FLOAT = r"\d+\.\d+(e[+-]\d+)?"
# Each trial: 4 of each phase (one warm-up), 5 batches; one more in SYNTHETIC.
SEEN = 4 * 6 + 4 * 5


def whole():
    """Lines, numbers of batches, JSON."""
    got = run("""
import prony
source = [[i, i] for i in range(7)]
seen = []
loader = prony.wrap(source, batch_size=2)
for batch in loader:
    seen.append(batch[0])
print("SEEN", seen)
print("LATER", [b[0] for b in loader])
assert loader.results["nranks"] == 1
""")
    check(got.status == 0, "a loop over a list is measured", got.all)
    seen = json.loads(re.search("SEEN (.*)", got.out).group(1))
    cached, full = seen[:24], seen[24:]
    check(len(seen) == SEEN, "the loop gets the batches of all trials",
          got.all)
    check(cached == [0] * 24, "SYNTHETIC is one batch again and again",
          str(cached))
    check(full == [0, 1, 2, 3, 4] * 4,
          "FULL is the source from its start, in its order", str(full))
    check("LATER [0, 1, 2, 3, 4, 5, 6]" in got.out,
          "a later loop is over the source as it is", got.out)
    lines(got)
    result(got)


def lines(got):
    lines = [line for line in got.out.splitlines() if "BENCHY" in line]
    want = [r"INFO::Message: Using benchy configuration file .*/benchy.yaml\.",
            r"INFO::Message: Profiling mode single. Starting profiler on rank "
            r"0 only\."]
    for phase in ("IO", "SYNTHETIC", "FULL"):
        for trial in ("WARMUP_0", "0", "1", "2"):
            label = "%s_%s::" % (phase, trial)
            want += 2 * [label + "Iteration Throughput: " + FLOAT]
            want += [label + "Average Iteration Throughput: " + FLOAT,
                     label + "Trial Throughput: " + FLOAT]
    three = r"\d+\.\d{3} \+/- \d+\.\d{3}"
    want += ["SUMMARY::IO average trial throughput: " + three,
             "SUMMARY:: SYNTHETIC average trial throughput: " + three,
             "SUMMARY::FULL average trial throughput: " + three,
             r"INFO::Message: Writing JSON output to .*/benchy_result\.json\."]
    wrong = [(line, pattern) for line, pattern in zip(lines, want)
             if not re.fullmatch("BENCHY::" + pattern, line)]
    check(len(lines) == len(want) and not wrong, "the lines are benchy's",
          "%d lines, not %d\n%s\n%s" % (len(lines), len(want), wrong[:3],
                                        got.out))


def result(got):
    r = got.result
    check(list(r) == ["nranks", "IO", "SYNTHETIC", "FULL"]
          and all(list(r[p]) == ["rates", "avg_iter_throughput",
                                 "trial_throughput", "trial_time"]
                  for p in list(r)[1:])
          and "\n" not in got.text and got.text == json.dumps(r),
          "the result is one line as json.dump writes it", got.text)
    good = all([len(x) for x in r[p]["rates"]] == [5, 5, 5]
               and all(abs(sum(x) / 5 / a - 1) < 1e-9 for x, a in
                       zip(r[p]["rates"], r[p]["avg_iter_throughput"]))
               and all(abs(rate * time / 10 - 1) < 1e-9 for rate, time in
                       zip(r[p]["trial_throughput"], r[p]["trial_time"]))
               for p in list(r)[1:])
    check(good, "3 trials of 5 rates; rate x time is 10 samples", got.text)


def truth():
    """Times that are known: 4 ms to fetch, 8 to compute. Sleeping takes
    longer on a busy machine, never less, so the fastest steps count."""
    got = run("""
import prony, time, sys
class Source:
    def __iter__(self):
        while True:
            time.sleep(.004)
            yield [0] * 10
loader = prony.wrap(Source(), batch_size=10, quiet=True)
for batch in loader:
    time.sleep(.008)
n = loader.numbers
print([max(sum(loader.results[p]["rates"], []))
       for p in ("IO", "SYNTHETIC", "FULL")],
      [n["FULL"]["fetch"]["min"], n["FULL"]["step"]["min"]],
      loader.verdict["bound"], sep=";")
""")
    check(got.status == 0, "a source of known speed", got.all)
    rates, parts, bound = got.out.strip().split(";")
    io, synthetic, full = json.loads(rates)
    fetch, step = json.loads(parts)
    check(250 < io <= 2500 and 125 < synthetic <= 1250
          and 83 < full <= 834, "rates are those of sleeping", got.out)
    check(.004 <= fetch < .04 and .008 <= step < .08 and fetch < step,
          "fetch and step are told apart", got.out)
    check(bound in ("compute bound", "balanced", "input bound"),
          "there is a verdict", got.out)
    check("BENCHY" not in got.out and not got.err, "quiet says nothing",
          got.all)


def counted():
    """Samples that a batch really has: rate x time is their number."""
    script = """
import prony, json
class Array:
    def __init__(self, n): self.shape = (n, 3)
loader = prony.wrap(%s, batch_size=%s, quiet=True)
for batch in loader: pass
r = loader.results["FULL"]
print([round(a * b, 6) for a, b in
       zip(r["trial_throughput"], r["trial_time"])])
"""
    cases = [
        ("a shorter last batch", "[[0]*8, [0]*8, [0]*3]", 8, 8+8+3+8+8),
        ("arrays", "[Array(8), Array(8), Array(3)]", 8, 35),
        ("arrays, size not given", "[Array(4)] * 9", None, 20),
        ("a dict of arrays", "[{'x': Array(4), 'y': Array(9)}] * 9", None, 20),
        ("tuples of tuples", "[((Array(4), Array(7)), (1, 2))] * 9", None, 10),
        ("pictures of several sizes, size given",
         "[((Array(4), Array(7)), (1, 2))] * 9", 2, 10),
        ("time first: the size that was given counts", "[Array(70)] * 9", 6,
         30),
        ("a text is no list of samples", "['text'] * 9", None, 5),
        ("an empty batch counts as given", "[[]] * 9", 4, 20),
    ]
    for what, source, size, samples in cases:
        got = run(script % (source, size))
        check(got.out.strip() == str([float(samples)] * 3),
              "samples: " + what, got.all)
    check("batches a second; say batch_size=" in run(
        script % ("['text'] * 9", None)).err,
        "a size that cannot be told is told", "")


# What a script does in its loop, its end, and phases that the result has.
ENDS = [
    ("break in every loop", """
for i in range(20):
    for batch in loader:
        break
""", 0, "", ["IO"]),
    ("break after three batches", """
for i in range(20):
    for n, batch in enumerate(loader):
        if n == 3: break
print(loader.results["SYNTHETIC"]["rates"])
""", 0, "", ["IO", "SYNTHETIC", "FULL"]),
    ("an exception of the loop", """
for n, batch in enumerate(loader):
    if n == 28: raise KeyError("mine")
""", 1, "KeyError: 'mine'", ["IO", "SYNTHETIC"]),
    ("KeyboardInterrupt", """
for n, batch in enumerate(loader):
    if n == 28: raise KeyboardInterrupt
""", -signal.SIGINT, "KeyboardInterrupt", ["IO", "SYNTHETIC"]),
    ("SIGINT", """
import os, signal
for n, batch in enumerate(loader):
    if n == 28: os.kill(os.getpid(), signal.SIGINT)
""", -signal.SIGINT, "KeyboardInterrupt", ["IO", "SYNTHETIC"]),
    ("sys.exit in the loop", """
for n, batch in enumerate(loader):
    if n == 28: raise SystemExit(3)
""", 3, "", ["IO", "SYNTHETIC"]),
    ("killed", """
import os, signal
for n, batch in enumerate(loader):
    if n == 28: os.kill(os.getpid(), signal.SIGKILL)
""", -signal.SIGKILL, "", ["IO", "SYNTHETIC"]),
    ("left at once, no cleaning up", """
import os
for n, batch in enumerate(loader):
    if n == 28: os._exit(5)
""", 5, "", ["IO", "SYNTHETIC"]),
    ("an iterator that is held until the exit", """
loop = iter(loader)
for n in range(24 + 5 + 4): next(loop)
""", 0, "", ["IO", "SYNTHETIC", "FULL"]),
    ("never looped over", "", 0, "", None),
]


def ends():
    for what, loop, status, words, phases in ENDS:
        got = run("import prony\n"
                  "loader = prony.wrap([[0]] * 9, batch_size=1)\n" + loop)
        there = got.result and [k for k in got.result if k != "nranks"]
        check(got.status == status and words in got.err, what, got.all)
        check(there == phases, what + ": what was measured is written",
              "%s\n%s" % (there, got.all))
    got = run("import prony\nloader = prony.wrap([[0]] * 9, batch_size=1)\n"
              + ENDS[2][1])
    check("BENCHY::SUMMARY::IO" in got.out and 'line 5, in <module>' in got.err
          and "/prony/" not in got.err,
          "an exception: the traceback is the script's, the summary is said",
          got.all)


def sources():
    got = run("""
import prony
closed = []
def source():
    try:
        for i in range(100): yield [i]
    finally:
        closed.append(1)
class Source:
    def __iter__(self): return source()
loader = prony.wrap(Source(), batch_size=1)
loop = iter(loader)
for n, batch in enumerate(loop):
    if n == 26: break
before = len(closed)
del loop, batch
print("closed", len(closed) - before)
""")
    check("closed 1\n" in got.out, "break ends the source's generator", got.all)
    got = run("""
import prony
class Source:
    def __iter__(self):
        yield [1]
        yield [2]
        raise OSError("disk gone")
loader = prony.wrap(Source(), batch_size=1)
for batch in loader: pass
""")
    check(got.status == 1 and "OSError: disk gone" in got.err
          and "in __iter__" in got.err, "an exception of the source", got.all)
    got = run("import prony\nprint(list(prony.wrap([], batch_size=1)))\n")
    check(got.status == 0 and "no batches" in got.err and "[]" in got.out
          and got.result is None, "a loader without batches", got.all)
    got = run("import prony\nprony.wrap(7, batch_size=1)\n")
    check(got.status == 1 and "'int' object is not iterable" in got.err,
          "what cannot be iterated over is a TypeError", got.all)


def leaks():
    got = run("""
import prony, gc, weakref, sys
class Batch(list):
    __hash__ = object.__hash__
alive = weakref.WeakSet()
class Source:
    def __iter__(self):
        for i in range(9):
            b = Batch([i])
            alive.add(b)
            yield b
            del b
most = 0
for i in range(3):
    for batch in prony.wrap(Source(), batch_size=1, quiet=True):
        most = max(most, len(alive))
del batch
gc.collect()
print("alive", most, len(alive))
one = [0]
source = [one] * 9
before = sys.getrefcount(one)
for i in range(20):
    for batch in prony.wrap(source, batch_size=1, quiet=True): pass
del batch
gc.collect()
print("references", sys.getrefcount(one) - before)
loader = prony.wrap(source, batch_size=1, quiet=True)
class Cycle: pass
cycle = Cycle()
cycle.loop = iter(prony.wrap([cycle] * 9, batch_size=1, quiet=True))
for i in range(26): next(cycle.loop)
gone = weakref.ref(cycle)
del cycle
gc.collect()
print("cycle", gone())
""")
    check(re.search("alive [12] 0", got.out) and "references 0" in got.out,
          "batches are let go, references balance", got.all)
    check("cycle None" in got.out, "cycles are collected", got.all)


def settings():
    got = run("import prony\nfor b in prony.wrap([[0]], batch_size=1): pass",
              config="full:\n        nbatches: 0\n")
    check(got.status == 1 and re.search(
        r"ConfigError: .*benchy\.yaml:2:\d+: .*nbatches", got.err),
        "nbatches 0 is refused, with its place", got.all)
    script = """
import prony
try:
    for b in prony.wrap([[0]], batch_size=1, config=%s): pass
except ValueError as e:
    print("ValueError", e)
"""
    for config, words in (
            ({"full": {"nbatches": 0}}, "full.nbatches must be at least 1"),
            ({"ful": {"nbatches": 1}}, "no section 'ful'"),
            ({"full": {"batches": 1}}, "no 'batches' in section 'full'")):
        got = run(script % config)
        check("ValueError " + words in got.out, "refused: %s" % config,
              got.all)
    got = run("import prony\nfor b in prony.wrap([[0]], batch_size=1): pass",
              config=None, BENCHY_CONFIG_FILE="nowhere.yaml")
    check(got.status == 1 and "nowhere.yaml" in got.err, "a missing file",
          got.all)
    got = run("""
import prony
for b in prony.wrap([[0]], batch_size=1, config={
        "IO": {"run_benchmark": False}, "synthetic": {"ntrials": 0},
        "full": {"ntrials": 2, "nwarmup": 0}}): pass
""")
    check(got.result and list(got.result) == ["nranks", "FULL"]
          and len(got.result["FULL"]["rates"]) == 2,
          "phases can be switched off, trials chosen", got.all)
    got = run("""
import prony
for i in range(2):
    for b in prony.wrap([[0]], batch_size=1): pass
""")
    check("benchy_result.2.json" in got.files and "another loader" in got.err,
          "a second loader does not overwrite the first one's result", got.all)


def synced():
    got = run("""
import prony
calls = 0
def sync():
    global calls
    calls += 1
for b in prony.wrap([[0]] * 9, batch_size=1, quiet=True, sync=sync): pass
print("calls", calls)
""")
    check("calls %d" % (12 * 6) in got.out, "sync: once a step and once before",
          got.all)


def entangled():
    """What ends a trial while it is being asked for a batch."""
    got = run("""
import prony
class Source:
    def __iter__(self):
        for i in range(100):
            if i == 7: loader.session.finish()
            yield [i]
for phase in ("IO", "synthetic", "full"):
    loader = prony.wrap(Source(), 1, quiet=True, config={
        p: {"run_benchmark": p == phase, "nbatches": 50}
        for p in ("IO", "synthetic", "full")})
    print(phase, sum(1 for b in loader))
loader = prony.wrap([[0]] * 9, 1, quiet=True,
                    sync=lambda: loader.session.finish())
print("sync", sum(1 for b in loader))
def write(line):
    if loader.session: loader.session.finish()
loader = prony.wrap([[0]] * 9, 1, write=write)
print("write", sum(1 for b in loader))
""")
    check(got.status == 0 and "IO 0" in got.out and "full 50" in got.out
          and "sync" in got.out and "write" in got.out,
          "a source, sync or write that ends the measurement", got.all)
    got = run("""
import prony, threading, time
class Slow:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        time.sleep(.001)
        self.n += 1
        if self.n % 7 == 0: raise StopIteration
        return [self.n]
from prony.session import Session
for round in range(5):
    session, slow = Session(1, write=None), Slow()
    trial = session.trial("FULL", lambda: slow)
    def pull():
        for b in trial: pass
    threads = [threading.Thread(target=pull) for i in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
def endless():
    for b in prony.wrap(Slow(), 1, config={"full": {"nbatches": 10 ** 6}}):
        pass
threading.Thread(target=endless, daemon=True).start()
time.sleep(.5)
print("over")
""")
    check(got.status == 0 and "over" in got.out,
          "several threads, and one that goes on at exit", got.all)


def forked():
    got = run("""
import prony, os, sys
loader = prony.wrap([[0]] * 9, batch_size=1)
for n, batch in enumerate(loader):
    if n == 30:
        child = os.fork()
        if child == 0:
            del batch
            sys.exit(0)     # runs atexit, and drops the iterator
        os.waitpid(child, 0)
""")
    check(got.status == 0 and got.out.count("SUMMARY::FULL") == 1
          and len(got.result["FULL"]["rates"]) == 3,
          "a forked child leaves the measurement alone", got.all)


def traced():
    got = run("import prony\nfor b in prony.wrap([[0]] * 9, 1): pass\n",
              PRONY_TRACE="trace.json")
    events = json.loads(got.files["trace.json"])["traceEvents"][1:]
    trials = {e["name"]: e for e in events if e["cat"] == "trial"}
    steps = [e for e in events if e["cat"] == "step"]
    inside = all(t["ts"] <= e["ts"] and
                 e["ts"] + e["dur"] <= t["ts"] + t["dur"] + .002
                 for e in steps for t in [trials[e["args"]["trial"]]])
    check(len(trials) == 12 and len(steps) == 2 * 60 and inside
          and {"fetch", "step"} == {e["name"] for e in steps},
          "PRONY_TRACE: each trial and what is in it", got.files["trace.json"])


def without():
    env = environment({"PYTHONPATH": PATH.split(os.pathsep)[0]})
    got = subprocess.run(
        [sys.executable, "-c", "import prony\nprony.wrap"], env=env,
        text=True, capture_output=True, check=False)
    check("ImportError: prony.wrap needs Prony's extension" in got.stderr,
          "without the extension the package says what is missing", got.stderr)


def metrics():
    """What other programs get: the names that `prony probe` uses, and no size
    of a batch where that was not said."""
    got = run("""
import json, prony
for n, size in enumerate((None, 1)):
    loader = prony.wrap([[0]] * 9, size, quiet=True)
    for b in loader: pass
    print("METRICS", json.dumps(json.loads(loader.session.probe.metrics())))
""")
    seen = [json.loads(line[8:]) for line in got.out.splitlines()
            if line.startswith("METRICS ")]
    check([m.get("batch_size") for m in seen] == [None, 1]
          and all(m["prony.main"] == ["io", "synthetic", "full", "bound"]
                  and {"full_stdev", "full_fetch_p99_ms", "io_fetch_ms",
                       "synthetic_step_max_ms", "throughput", "time", "stall",
                       "verdict"} <= set(m)
                  and "io_step_ms" not in m for m in seen),
          "metrics, with a size of batches only where it was said", got.all)


LOOP = "import prony\nfor b in prony.wrap([[0]] * 9, 1): pass\n"


def prony_says(*args, **more):
    """What the program says: (JSON or None, all of it)."""
    done = subprocess.run([os.environ["PRONY"], *args], text=True, check=False,
                          **{"capture_output": True, **more})
    try:
        return json.loads(done.stdout), done.stdout + done.stderr
    except ValueError:
        return None, done.stdout + done.stderr


def in_a_run():
    """As a job of `prony run`: figures are in its result."""
    with tempfile.TemporaryDirectory() as folder:
        job = start(folder, LOOP)
        got, text = prony_says(
            "run", "-o", os.path.join(folder, "run"), "--format", "json", "-P",
            "exp.command=" + json.dumps(job["args"]), cwd=folder,
            env=job["env"])
        results = got["experiments"][0]["results"] if got else {}
        check(all(results.get(n, 0) > 0 for n in ("io", "synthetic", "full"))
              and "bound" in results and results.get("batch_size") == 1
              and len(results["full_trials"]) == 3,
              "under `prony run` the figures are in its result", text)


def as_a_run():
    """By PRONY_RUN_DIR: a run directory that the program reads."""
    with tempfile.TemporaryDirectory() as folder:
        job = start(folder, LOOP, PRONY_RUN_DIR="run")
        subprocess.run(**job, check=False)
        with open(os.path.join(folder, "benchy_result.json"),
                  encoding="utf-8") as f:
            rates = json.load(f)["FULL"]["trial_throughput"]
        run_dir = os.path.join(folder, "run")
        got, text = prony_says("report", run_dir, "--format", "json")
        results = got["experiments"][0] if got else {}
        check(got and results["status"] == "ok"
              and abs(results["full"] / (sum(rates) / 3) - 1) < 1e-9,
              "PRONY_RUN_DIR: a run directory that report reads", text)
        _, text = prony_says("report", run_dir)
        check("Phases" in text and "synthetic" in text,
              "its report is that of a probe", text)
        with open(os.path.join(run_dir, "probe.svg"), encoding="utf-8") as f:
            check("<svg" in f.read(), "the three rates as bars", "")
        got, text = prony_says("parse", run_dir, "--output-file",
                               os.path.join(folder, "all.json"))
        with open(os.path.join(folder, "all.json"), encoding="utf-8") as f:
            data = json.load(f)["data"]
        check(len(data) == 1 and data[0].get("results.full") ==
              results["full"], "and parse", "%s\n%s" % (data, text))
        again = subprocess.run(**job, check=False)
        check(again.returncode == 0 and "prony: " in again.stderr
              and "run" in again.stderr.split("prony: ")[-1],
              "one that is there is left alone, and that is said",
              again.stderr)


assert FEW
for part in (whole, truth, counted, ends, sources, leaks, settings, synced,
             entangled, forked, traced, without, metrics) + (
                 (in_a_run, as_a_run) if os.environ.get("PRONY") else ()):
    part()
sys.exit(end())
