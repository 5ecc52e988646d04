"""What the tests of emulated training share: running it, reading everything it
leaves behind, and checking the figures that any run must have."""

import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.path.abspath(os.environ.get("PRONY")
                        or os.path.join(SRC, "build", "prony"))
PEERS = os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers")
DLIO = os.path.join(PEERS, "dlio")


# ------------------------------------------------------------------ counting


class Group:
    """Checks that make one line of TAP."""

    def __init__(self, name):
        self.name = name
        self.count = 0
        self.wrong = []
        self.skip = ""

    def check(self, good, text):
        self.count += 1
        if not good:
            self.wrong.append(text)
        return bool(good)

    def equal(self, got, want, text):
        return self.check(got == want, "%s: %r, want %r" % (text, got, want))


class Tap:
    """Rows, each a function of a group and a folder of its own; rows of one
    name are one line. They run side by side: most of a row is waiting."""

    def __init__(self):
        self.rows = []
        self.only = sys.argv[1:]

    def row(self, name, what, function, *args):
        if not self.only or any(o in name + "/" + what for o in self.only):
            self.rows.append((name, what, function, args))

    @staticmethod
    def do(row, scratch):
        name, what, function, args = row
        group = Group(name)
        folder = tempfile.mkdtemp(dir=scratch)
        try:
            function(group, folder, *args)
        except Exception:  # the rest goes on
            group.wrong.append(traceback.format_exc().strip())
        if group.wrong and not group.count:
            group.count = 1
        group.wrong = ["%s: %s" % (what, w) for w in group.wrong]
        shutil.rmtree(folder, ignore_errors=True)
        return group

    def finish(self, jobs=4):
        lines = {}
        with tempfile.TemporaryDirectory(prefix="prony-emulate-") as scratch, \
                concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for g in pool.map(lambda r: self.do(r, scratch), self.rows):
                line = lines.setdefault(g.name, Group(g.name))
                line.count += g.count
                line.wrong += g.wrong
                line.skip = line.skip or g.skip
        for n, g in enumerate(lines.values(), 1):
            bad = "not " if g.wrong else ""
            skip = "" if g.count else " # SKIP " + g.skip
            print("%sok %d - %s (%d)%s" % (bad, n, g.name, g.count, skip))
            if g.skip and g.count:
                print("    # SKIP " + g.skip)
            for text in g.wrong[:12]:
                print("    # " + text.replace("\n", "\n    # "))
            if len(g.wrong) > 12:
                print("    # and %d more" % (len(g.wrong) - 12))
        print("1..%d" % len(lines))
        sys.exit(1 if any(g.wrong for g in lines.values()) else 0)


# ------------------------------------------------------------------- running


def read_json(path):
    with open(path, encoding="utf-8") as f:
        # NaN and Infinity are not JSON.
        return json.load(f, parse_constant=lambda c: float("bad " + c))


class Outcome:
    """What one experiment left behind; several: the one numbered."""

    def __init__(self, status, out, err, run, number=0):
        self.status, self.out, self.err, self.run = status, out, err, run
        self.all = sorted(glob.glob(os.path.join(run, "experiments", "*")))
        self.dir = self.all[number] if self.all else ""
        self.result = self.json("result.json") or {}
        self.results = self.result.get("results", {})
        self.warnings = " / ".join(self.result.get("warnings", []))
        self.summary = self.json("summary.json")
        self.outputs = self.ranks("output")
        self.epochs = self.ranks("per_epoch_stats")

    def path(self, name):
        return os.path.join(self.dir, name)

    def json(self, name):
        path = self.path(name)
        return read_json(path) if self.dir and os.path.exists(path) else None

    def text(self, name="log.txt"):
        if not self.dir or not os.path.exists(self.path(name)):
            return ""
        with open(self.path(name), encoding="utf-8", errors="replace") as f:
            return f.read()

    def ranks(self, name):
        """Of rank 0, 1, …; rank 10 comes after 9."""
        found = glob.glob(self.path("*_%s.json" % name)) if self.dir else []
        found.sort(key=lambda p: int(os.path.basename(p).split("_")[0]))
        return [read_json(p) for p in found]

    def why(self):
        return "status %d: %s %s" % (
            self.status, self.result.get("reason", ""), self.err[-600:])

    def events(self, name="", pid=None):
        """Events of the trace in the order of time."""
        found = [e for e in self.json("trace.json") if e["ph"] == "X"
                 and (not name or e["name"] == name)
                 and (pid is None or e["pid"] == pid)]
        return sorted(found, key=lambda e: e["ts"])

    def order(self, epoch, accelerator=None):
        """Numbers of samples in the order they were read."""
        return [e["args"]["sample"] for e in self.events("item", accelerator)
                if e["args"]["epoch"] == epoch]


def run(folder, target, *args, env=None, name="run", more=(), under=()):
    """A run in a folder; args are overrides (a=b) without their prefix."""
    out = os.path.join(folder, name)
    command = list(under) + [PRONY, "run", "-o", out] + list(more)
    if target:
        command.append(target)
    for a in args:
        plain = a.startswith(("exp.", "emulate.", "-"))
        command.append(a if plain else "++workload." + a)
    variables = dict(os.environ, PRONY_SHARE=SRC, **(env or {}))
    done = subprocess.run(command, stdin=subprocess.DEVNULL, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, check=False, env=variables)
    return Outcome(done.returncode, done.stdout.decode(errors="replace"),
                   done.stderr.decode(errors="replace"), out)


# ------------------------------------------------------------------ checking


class Want:
    """What a run should come to."""

    def __init__(self, files=16, eval_files=8, per_file=1, batch=4,
                 batch_eval=1, accelerators=2, epochs=1, evaluation=True,
                 steps=None, compute=True):
        self.accelerators, self.epochs = accelerators, epochs
        self.batch, self.batch_eval = batch, batch_eval
        self.steps = files * per_file // (batch * accelerators)
        self.capped = steps is not None  # by total_training_steps
        if self.capped:
            self.steps = min(steps, self.steps)
        self.eval_steps = (eval_files * per_file
                           // (batch_eval * accelerators) if evaluation else 0)
        self.evaluation = evaluation
        self.compute = compute


def check_results(g, r, w):
    """Our own figures."""
    v = r.results
    g.equal(v.get("accelerators"), w.accelerators, "accelerators")
    g.equal(v.get("epochs"), w.epochs, "epochs")
    steps = w.steps * w.accelerators * w.epochs
    g.equal(v.get("steps"), steps, "steps")
    g.equal(v.get("samples"), steps * w.batch, "samples")
    g.equal(v.get("skipped_samples"), 0, "skipped samples")
    if w.steps and w.compute:
        g.check(0 < v["utilisation"] <= 1, "utilisation %r" % v["utilisation"])
        g.check(v["samples_per_second"] > 0, "samples/s")
        by = v["by_accelerator"]["samples"]
        g.equal(by, [steps * w.batch // w.accelerators] * w.accelerators,
                "samples of accelerators")
    if w.eval_steps:
        g.equal(v.get("eval_samples"), w.eval_steps * w.batch_eval
                * w.accelerators * w.epochs, "samples of evaluation")


def check_rank(g, rank, output, w):
    """DLIO's lists of one rank."""
    want = [str(e + 1) for e in range(w.epochs)]
    keys = [k for k in output if k.isdigit()]
    g.equal(keys, want, "rank %d: epochs" % rank)
    blocks = {"block1": w.steps, "eval": w.eval_steps}
    for key in keys:
        for name, steps in blocks.items():
            if name == "eval" and not w.evaluation:
                g.check(name not in output[key]["load"], "eval without any")
                continue
            for part in ("load", "proc", "compute"):
                times = output[key][part].get(name, [])
                g.equal(len(times), steps, "rank %d: length of %s %s %s" % (
                    rank, key, part, name))
                g.check(all(0 <= x < 60 for x in times), "times %r" % times)
            for a, b, c in zip(*(output[key][p].get(name, []) for p in (
                    "load", "compute", "proc"))):
                g.check(abs(a + b - c) < 1e-5, "load + compute is not proc")
            if steps > 1 and w.compute:
                au = output[key]["au"][name]
                g.check(0 < au <= 100, "rank %d: au %r" % (rank, au))


def check_summary(g, r, w):
    s = r.summary
    g.equal(s["num_accelerators"], w.accelerators, "num_accelerators")
    g.equal(s["epochs"], w.epochs, "summary epochs")
    au = s["metric"]["train_au_percentage"]
    g.equal(len(au), w.epochs, "length of train_au_percentage")
    if w.steps > 1 and w.compute:
        g.check(all(0 < x <= 100 for x in au), "AU %r" % au)
    for name, per in (("train", w.epochs), ("eval", w.epochs)):
        if name == "eval" and not w.evaluation:
            g.check("eval_au_percentage" not in s["metric"], "eval figures")
            continue
        speed = s["metric"][name + "_throughput_samples_per_second"]
        g.equal(len(speed), per, "length of %s throughput" % name)


def check_log(g, r, w):
    log = r.text("dlio.log")
    for e in range(1, w.epochs + 1):
        g.check("Starting epoch %d: %s" % (
            e, "Overriding number of steps to %d." % w.steps if w.capped
            else "%d steps expected" % w.steps) in log,
            "dlio.log: epoch %d" % e)
        g.check("Ending epoch %d - %d steps completed" % (e, w.steps) in log,
                "dlio.log: end of epoch %d" % e)
    g.check("[METRIC] Number of Simulated Accelerators: %d"
            % w.accelerators in log, "dlio.log: metric")


def check(g, r, w=None):
    """A run that went well and has all the figures that it should."""
    w = w or Want()
    if not g.check(r.status == 0 and r.result.get("status") == "ok", r.why()):
        return False
    if not g.check(r.summary is not None, "no summary.json"):
        return False
    check_results(g, r, w)
    g.equal(len(r.outputs), w.accelerators, "files R_output.json")
    g.equal(len(r.epochs), w.accelerators, "files R_per_epoch_stats.json")
    for rank, output in enumerate(r.outputs):
        check_rank(g, rank, output, w)
    for stats in r.epochs:
        g.equal(list(stats), [str(e + 1) for e in range(w.epochs)],
                "epochs of per_epoch_stats")
    check_summary(g, r, w)
    check_log(g, r, w)
    half = [n for at, _, names in os.walk(r.run) for n in names
            if n.startswith((".part-", ".new-"))]
    g.check(not half, "left behind: %s" % half)
    return True
