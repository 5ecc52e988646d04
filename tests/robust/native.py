"""Native training in a hostile world: models that do not fit, losses that
explode, definitions and files that are wrong, signals and kills at any moment,
a full disk. And what it promises: the same losses in each run, and a network
that learns to read. Needs oneDNN; skipped loudly without."""

import glob
import json
import os
import signal
import struct
import subprocess
import sys
import time

from _robust import (PRONY, Scratch, processes_with, progress_of, run, start,
                     wait_until)

BASE = ["exp.framework=native", "exp.model=lenet", "exp.replica_batch=4",
        "exp.num_batches=3", "nn.peak=false", "nn.threads=1"]


class Did:
    """A training that has ended, one way or another."""

    def __init__(self, where, code, out, err):
        self.where, self.code, self.out, self.err = where, code, out, err
        found = glob.glob(os.path.join(where, "experiments", "*"))
        self.dir = found[0] if found else where
        self.result, self.log = {}, ""
        path = os.path.join(self.dir, "result.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.result = json.load(f)
        path = os.path.join(self.dir, "log.txt")
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as f:
                self.log = f.read()
        self.results = self.result.get("results", {})
        self.reason = self.result.get("reason", "")
        self.status = self.result.get("status")


NUMBER = [0]


def train(t, *words, **more):
    NUMBER[0] += 1
    where = t.path("run-%d" % NUMBER[0])
    return Did(where, *run(["run", "-q", "-o", where] + BASE + list(words),
                           **more))


# -------------------------------------------------------- what is refused


def too_large(t):
    d = train(t, "exp.replica_batch=900000")
    t.check(d.code == 1 and d.status == "failed", "too large: %d %s" % (
        d.code, d.status))
    t.check("900000 needs" in d.reason and "GB" in d.reason,
            "too large: no size in '%s'" % d.reason)
    t.check(d.results.get("max_rss_bytes", 1 << 40) < 500e6,
            "too large: it took memory all the same")
    t.check("loss" not in d.results, "too large: it trained")


def little_memory(t):
    """A limit of the process: an error in words, not a crash."""
    shell = "ulimit -v 400000; exec \"$@\""
    where = t.path("limited")
    p = subprocess.run(["sh", "-c", shell, "sh", PRONY, "run", "-q", "-o",
                        where] + BASE + ["exp.replica_batch=4096"],
                       capture_output=True, text=True, timeout=120)
    if "AddressSanitizer" in p.stderr:
        print("SKIP: a sanitizer needs more address space; use another build")
        return
    d = Did(where, p.returncode, p.stdout, p.stderr)
    t.check(d.code in (1, 71), "little memory: %d %s" % (d.code, p.stderr))
    t.check(d.status in ("failed", None) and "signal" not in d.reason,
            "little memory: %s %s" % (d.status, d.reason))


def exploding(t):
    d = train(t, "nn.learning_rate=1e9", "exp.num_batches=200")
    t.check(d.code == 1 and d.status == "failed",
            "exploding: %d %s" % (d.code, d.status))
    t.check("loss" in d.reason and "nn.learning_rate" in d.reason,
            "exploding: reason '%s'" % d.reason)
    t.check("time" not in d.results, "exploding: it has a time")
    t.check(d.results.get("steps", 0) >= 1 and d.results.get("loss_data"),
            "exploding: its losses are not told")


WRONG = [
    ("model: mine\ninput: [1, 28, 28]\nclasses: 10\n"
     "layers:\n  - {conv: 8, kernle: 3}\n", ("mine.yaml:5", "kernle")),
    ("model: mine\ninput: [1, 28, 28]\nclasses: 10\n"
     "layers:\n  - {conv: 8, kernel: 64}\n", ("mine.yaml:5",)),
    ("model: mine\ninput: [1, 28, 28]\nclasses: 10\n"
     "layers:\n  - {convolve: 8}\n", ("mine.yaml:5", "convolve")),
    ("model: mine\ninput: [1, 28, 28\n", ("mine.yaml:",)),
    ("", ("mine.yaml",)),
]


def wrong_models(t):
    path = t.path("mine.yaml")
    d = train(t, "exp.model=lenett")
    t.check(d.code == 3 and "lenett" in d.err, "unknown model: %s" % d.err)
    d = train(t, "exp.model=" + path)
    t.check(d.code != 0 and "mine.yaml" in d.err, "no model: %s" % d.err)
    for text, words in WRONG:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        d = train(t, "exp.model=" + path)
        t.check(d.code == 3 or d.code == 5, "%r: exit %d" % (text, d.code))
        for word in words:
            t.check(word in d.err, "%r: '%s' is not in: %s" % (
                text, word, d.err))
        t.check(not os.path.exists(d.where), "%r: it left a folder" % text)


# ------------------------------------------------------- what it promises


def same_losses(t):
    for threads in (1, 2):
        words = ["nn.data=digits", "exp.num_batches=8", "exp.replica_batch=8",
                 "nn.threads=%d" % threads]
        a, b = train(t, *words), train(t, *words)
        other = train(t, "nn.seed=2", *words)
        t.check(len(a.results.get("loss_data", ())) == 9,
                "losses: %s" % a.reason)
        t.check(a.results.get("loss_data") == b.results.get("loss_data"),
                "%d threads: losses differ" % threads)
        t.check(a.results.get("loss_data") != other.results.get("loss_data"),
                "another seed gives the same losses")


def learns(t):
    d = train(t, "nn.data=digits", "exp.replica_batch=32",
              "exp.num_batches=60", "nn.evaluate=1000", "nn.threads=0")
    t.check(d.results.get("accuracy", 0) >= 0.97,
            "LeNet on digits: %s %s" % (d.results.get("accuracy"), d.reason))
    print("accuracy of LeNet on digits: %s" % d.results.get("accuracy"))


def goes_on(t):
    path = t.path("weights.safetensors")
    words = ["nn.data=digits", "exp.replica_batch=16"]
    a = train(t, "exp.num_batches=40", "nn.save=" + path, *words)
    b = train(t, "nn.load=" + path, "exp.num_warmup_batches=0", *words)
    first, then = a.results.get("loss_data"), b.results.get("loss_data")
    if t.check(first and then, "save and load: %s %s" % (a.reason, b.reason)):
        t.check(sum(then) / len(then) < first[0] / 3,
                "it did not go on: %s after %s" % (then, first[0]))
    return path


# ------------------------------------------------------------- bad files


def bad_files(t, good):
    with open(good, "rb") as f:
        data = f.read()
    length = struct.unpack("<Q", data[:8])[0]
    cases = {
        "empty": b"", "cut": data[:len(data) // 2], "head": data[:8 + 20],
        "length": struct.pack("<Q", 1 << 60) + data[8:],
        "text": b"these are no weights, but a text\n" * 9,
        "json": data[:8] + b"\x00" * length + data[8 + length:],
    }
    for name, contents in cases.items():
        path = t.path("bad-" + name)
        with open(path, "wb") as f:
            f.write(contents)
        d = train(t, "nn.load=" + path)
        t.check(d.code == 1 and d.status == "failed",
                "%s: %d %s" % (name, d.code, d.status))
        t.check("bad-" + name in d.reason,
                "%s: the file is not named: %s" % (name, d.reason))
    d = train(t, "nn.load=" + t.path())
    t.check(d.status == "failed", "a folder is loaded")
    fifo = t.path("fifo")
    os.mkfifo(fifo)
    d = train(t, "nn.load=" + fifo)
    t.check(d.status == "failed", "a pipe is loaded")


def half_made(folder):
    return [os.path.join(at, n) for at, _, names in os.walk(folder)
            for n in names if n.startswith(".new-")]


def full_disk(t):
    """In a file system of its own where that can be had, else by a limit of
    the size of files."""
    place = t.path("small")
    os.mkdir(place)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place],
        capture_output=True).returncode == 0
    try:
        if mounted:
            d = train(t, "nn.save=" + os.path.join(place, "w"))
            t.check(d.code == 1 and d.status == "failed",
                    "full disk: %d %s" % (d.code, d.status))
            t.check("w" in d.reason and "free" in d.reason,
                    "full disk: reason '%s'" % d.reason)
            t.check(d.results.get("time", 0) > 0,
                    "full disk: what was measured is lost")
        else:
            print("SKIP: no rights to mount; run it as root")
        t.check(not os.listdir(place), "full disk: %s" % os.listdir(place))
    finally:
        if mounted:
            subprocess.run(["umount", place], check=True)
    d = train(t, "nn.save=" + t.path("not", "there"))
    t.check(d.status == "failed" and "loss" not in d.results,
            "no folder: it trained before it said so")


# --------------------------------------------------------------- signals

LONG = ["exp.num_batches=1000000", "nn.data=digits"]


def started(t, where):
    """Whether the first steps are done: progress is told of the data, too."""
    return t.check(wait_until(lambda: "batch " in progress_of(where)),
                   "it did not start")


def interrupted(t):
    where = t.path("interrupted")
    save = t.path("never")
    p = start(["run", "-o", where, "--progress", "never", "nn.save=" + save]
              + BASE + LONG)
    started(t, where)
    before = time.monotonic()
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=60)
    t.check(time.monotonic() - before < 45, "Ctrl-C took long")
    d = Did(where, p.returncode, "", err.decode())
    t.check(d.code == 130, "Ctrl-C: exit %d" % d.code)
    t.check("loss_data" in d.log, "Ctrl-C: the losses are lost")
    t.check(not os.path.exists(save), "Ctrl-C: it saved")
    t.check("--resume" in d.err, "Ctrl-C: how to go on is not said")
    t.check(not processes_with(where), "Ctrl-C: processes are left")


def killed(t):
    """The runner, then the training itself."""
    where = t.path("killed")
    p = start(["run", "-o", where] + BASE + LONG)
    started(t, where)
    p.kill()
    p.communicate(timeout=60)
    t.check(wait_until(lambda: not processes_with(where)),
            "killed: processes are left")
    where = t.path("killed-inside")
    p = start(["run", "-o", where, "runtime.env.MARK=" + where] + BASE + LONG)
    started(t, where)
    inside = [pid for pid in processes_with("MARK=" + where) if pid != p.pid]
    busy = max(inside, key=cpu_of, default=None)
    if not t.check(busy is not None, "no process of the training found"):
        p.kill()
        return
    os.kill(busy, signal.SIGKILL)
    p.communicate(timeout=60)
    d = Did(where, p.returncode, "", "")
    t.check(d.code == 1 and d.status == "failed" and "SIGKILL" in d.reason,
            "killed inside: %d %s %s" % (d.code, d.status, d.reason))


def cpu_of(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii",
                  errors="replace") as f:
            fields = f.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    except OSError:
        return -1


def timed_out(t):
    d = train(t, "exp.timeout=2", *LONG)
    t.check(d.status == "timeout", "timeout: %s %s" % (d.status, d.reason))


def main():
    _, out, _ = run(["doctor"])
    row = [line for line in out.splitlines() if line.startswith("oneDNN")]
    if not row or " ok " not in row[0]:
        print("SKIP: no oneDNN; install libdnnl-dev")
        sys.exit(77)
    t = Scratch()
    too_large(t)
    little_memory(t)
    exploding(t)
    wrong_models(t)
    same_losses(t)
    learns(t)
    good = goes_on(t)
    bad_files(t, good)
    full_disk(t)
    interrupted(t)
    killed(t)
    timed_out(t)
    left = half_made(t.path())
    t.check(not left, "half-made files: %s" % left)
    t.finish("native training: done")


main()
