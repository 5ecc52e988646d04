"""Several processes that train together, in a hostile world: signals, kills and
stops of one of them, too little memory, losses that explode. The experiment
ends soon and says why, and nothing is left running. Needs oneDNN; skipped
loudly without."""

import glob
import json
import os
import signal
import subprocess
import sys
import time

from _robust import (PRONY, Scratch, processes_with, progress_of, run, start,
                     wait_until)

BASE = ["exp.framework=native", "exp.model=lenet", "exp.replica_batch=4",
        "nn.peak=false", "nn.threads=1", "nn.data=digits",
        "exp.num_local_replicas=3"]
LONG = ["exp.num_batches=1000000"]


class Ended:
    """An experiment that has ended, one way or another."""

    def __init__(self, where, code):
        self.code, self.result, self.log = code, {}, ""
        for path in glob.glob(os.path.join(where, "experiments/*/result.json")):
            with open(path, encoding="utf-8") as f:
                self.result = json.load(f)
        for path in glob.glob(os.path.join(where, "experiments/*/log.txt")):
            with open(path, encoding="utf-8", errors="replace") as f:
                self.log = f.read()
        self.status = self.result.get("status")
        self.reason = self.result.get("reason", "")

    def __str__(self):
        return "exit %s, %s: %s" % (self.code, self.status, self.reason)


def ranks_of(mark):
    """Process ids of ranks 1, 2, … and of the one that reports (rank 0), which
    is the parent of them."""
    found = {}
    for pid in processes_with(mark):
        try:
            with open("/proc/%d/comm" % pid, encoding="ascii") as f:
                name = f.read().strip()
            with open("/proc/%d/stat" % pid, encoding="ascii",
                      errors="replace") as f:
                parent = int(f.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if name.startswith("prony-rank"):
            found[int(name[10:])] = pid
            found[0] = parent
    return found


def training(t, name, *words, has_steps=False):
    """Starts one, waits until it is about to begin, or has done steps."""
    where = t.path(name)
    mark = "MARK=" + where
    p = start(["run", "-o", where, "--progress", "never",
               "runtime.env." + mark] + BASE + LONG + list(words))

    def begun():
        return " planned\n" in Ended(where, None).log and (
            not has_steps or "batch " in progress_of(where))
    t.check(wait_until(begun), "%s: it did not start" % name)
    time.sleep(0.1)  # in the middle of a step
    ranks = ranks_of(mark)
    t.check(sorted(ranks) == [0, 1, 2], "%s: ranks %s" % (name, ranks))
    return p, where, mark, ranks


def ending(t, name, p, where, mark, most=50):
    before = time.monotonic()
    p.communicate(timeout=60)
    took = time.monotonic() - before
    t.check(took < most, "%s: it took %.1f s to end" % (name, took))
    t.check(wait_until(lambda: not processes_with(mark)),
            "%s: processes are left: %s" % (name, processes_with(mark)))
    return Ended(where, p.returncode)


def interrupted(t):
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        name = "interrupted-%d" % number
        p, where, mark, _ = training(t, name, has_steps=True)
        p.send_signal(number)
        d = ending(t, name, p, where, mark)
        t.check(d.code == code, "%s: %s" % (name, d))
        t.check("loss_data" in d.log, name + ": the losses are lost")


def hit(t, name, rank, number, *words):
    """A signal for one of the processes alone."""
    p, where, mark, ranks = training(t, name)
    if rank in ranks:
        os.kill(ranks[rank], number)
    d = ending(t, name, p, where, mark)
    t.check(d.code == 1 and d.status == "failed", "%s: %s" % (name, d))
    for word in words:
        t.check(word in d.reason, "%s: '%s' is not in: %s" % (name, word, d))


def stopped(t):
    """One that hangs: a time limit ends them all."""
    p, where, mark, ranks = training(t, "stopped", "exp.timeout=2")
    if 2 in ranks:
        os.kill(ranks[2], signal.SIGSTOP)
    d = ending(t, "stopped", p, where, mark, 20)
    t.check(d.status == "timeout", "stopped: %s" % d)


def little_memory(t):
    """A limit for each process: an error in words."""
    shell = "ulimit -v 400000; exec \"$@\""
    where = t.path("limited")
    mark = "MARK=" + where
    p = subprocess.run(
        ["sh", "-c", shell, "sh", PRONY, "run", "-q", "-o", where,
         "runtime.env." + mark] + BASE + [
             "exp.replica_batch=4096", "nn.samples=20000"],
        capture_output=True, text=True, timeout=120)
    if "AddressSanitizer" in p.stderr:
        print("SKIP: a sanitizer needs more address space; use another build")
        return
    d = Ended(where, p.returncode)
    t.check(d.code in (1, 71) and "signal" not in d.reason,
            "little memory: %s %s" % (d, p.stderr))
    t.check("memory" in (d.reason or p.stderr).lower(),
            "little memory: %s %s" % (d, p.stderr))
    t.check(not processes_with(mark), "little memory: processes are left")


def exploding(t):
    where = t.path("exploding")
    code, _, _ = run(["run", "-q", "-o", where, "nn.learning_rate=1e9",
                      "exp.num_batches=200"] + BASE)
    d = Ended(where, code)
    t.check(d.code == 1 and "loss" in d.reason and
            "nn.learning_rate" in d.reason, "exploding: %s" % d)


def main():
    _, out, _ = run(["doctor"])
    row = [line for line in out.splitlines() if line.startswith("oneDNN")]
    if not row or " ok " not in row[0]:
        print("SKIP: no oneDNN; install libdnnl-dev")
        sys.exit(77)
    t = Scratch()
    interrupted(t)
    hit(t, "killed-1", 1, signal.SIGKILL, "replica 1", "signal 9")
    hit(t, "killed-2", 2, signal.SIGKILL, "replica 2", "signal 9")
    hit(t, "killed-0", 0, signal.SIGKILL, "SIGKILL")
    hit(t, "crashed", 1, signal.SIGSEGV, "replica 1", "signal 11")
    hit(t, "ended", 2, signal.SIGTERM)
    stopped(t)
    little_memory(t)
    exploding(t)
    t.finish("replicas: done")


main()
