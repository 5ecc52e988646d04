"""Replicas that mpirun starts: the same losses as of one process with all
samples, and an end for all when one of them is killed, told to end, or fails.
Needs oneDNN and Open MPI; skipped loudly without."""

import glob
import json
import os
import signal
import sys
import time

from _robust import (Scratch, processes_with, progress_of, run, start,
                     wait_until)

BASE = ["exp.framework=native", "exp.model=lenet", "--tiny", "nn.data=digits",
        "exp.num_batches=6", "nn.peak=false", "nn.threads=1"]
TWO = ["nn.mpi=true", "exp.num_local_replicas=2", "exp.replica_batch=4"]
LONG = ["exp.num_batches=1000000"]
SOON = 50  # seconds; mpirun gives those that are left one


# What Open MPI does not free is none of our leaks.
os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [
    os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"]))


def result_of(where):
    found = glob.glob(os.path.join(where, "experiments", "*", "result.json"))
    if not found:
        return {}
    with open(found[0], encoding="utf-8") as f:
        return json.load(f)


def log_of(where):
    found = glob.glob(os.path.join(where, "experiments", "*", "log.txt"))
    with open(found[0], encoding="utf-8", errors="replace") as f:
        return f.read()


def train(t, name, *words, **more):
    where = t.path(name)
    code, _, err = run(["run", "-q", "-o", where] + BASE + list(words), **more)
    return code, result_of(where), err


def losses(t, name, *words):
    _, result, err = train(t, name, *words)
    found = result.get("results", {}).get("loss_data", [])
    t.check(len(found) == 7, "%s: %s %s" % (name, result.get("reason"), err))
    return found


def same_losses(t):
    """In ten orders of addition there are ten last digits, no more."""
    one = losses(t, "one", "exp.replica_batch=8")
    forked = losses(t, "forked", *TWO, "nn.mpi=false")
    for name, words in (("mpi", TWO), ("nodes", [
            "nn.mpi=true", "exp.num_nodes=2", "exp.replica_batch=4"])):
        found = losses(t, name, *words)
        for i, (a, b, c) in enumerate(zip(found, one, forked)):
            t.check(abs(a - b) <= 1e-4 * max(1, abs(b)),
                    "%s: loss %d is %r, of one process %r" % (name, i, a, b))
            t.check(abs(a - c) <= 1e-4 * max(1, abs(c)),
                    "%s: loss %d is %r, of forked ones %r" % (name, i, a, c))
        results = result_of(t.path(name))["results"]
        t.check(results["replicas"] == 2, "%s: replicas" % name)
        lines = log_of(t.path(name)).count("__results.loss_data__")
        t.check(lines == 1, "%s: %d replicas reported" % (name, lines))


# ------------------------------------------------------------------- ends


def ranks_of(where):
    """Pids of the replicas, without mpirun."""
    found = []
    for pid in processes_with(where):
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as f:
                words = f.read().split(b"\0")
        except OSError:
            continue
        if len(words) > 1 and words[1] == b"__rank":
            found.append(pid)
    return found


def begin(t, name, *words):
    where = t.path(name)
    p = start(["run", "-o", where, "--progress", "never"] + BASE + TWO + LONG
              + list(words))
    t.check(wait_until(lambda: "batch " in progress_of(where)),
            "%s: it did not start" % name)
    return where, p


def end(t, name, where, p):
    before = time.monotonic()
    p.communicate(timeout=60)
    took = time.monotonic() - before
    t.check(took < SOON, "%s: it took %.1f s to end" % (name, took))
    t.check(wait_until(lambda: not processes_with(where)),
            "%s: processes are left" % name)
    return result_of(where)


def killed(t):
    for which in (0, -1):
        name = "killed%d" % which
        where, p = begin(t, name)
        ranks = sorted(ranks_of(where))
        t.check(len(ranks) == 2, "%s: replicas %s" % (name, ranks))
        os.kill(ranks[which], signal.SIGKILL)
        r = end(t, name, where, p)
        t.check(p.returncode == 1 and r.get("status") == "failed",
                "%s: %d %s" % (name, p.returncode, r.get("status")))
        t.check("signal 9" in r.get("reason", ""),
                "%s: reason '%s'" % (name, r.get("reason")))


def interrupted(t):
    where, p = begin(t, "interrupted")
    p.send_signal(signal.SIGINT)
    end(t, "interrupted", where, p)
    t.check(p.returncode == 130, "Ctrl-C: exit %d" % p.returncode)
    t.check("loss_data" in log_of(where), "Ctrl-C: the losses are lost")


def timed_out(t):
    _, r, err = train(t, "timeout", "exp.timeout=3", *TWO, *LONG)
    t.check(r.get("status") == "timeout", "timeout: %s %s" % (r, err))


def failed(t):
    """What a replica says is the reason, not that mpirun ended."""
    code, r, _ = train(t, "rate", *TWO, "nn.learning_rate=1e9")
    t.check(code == 1 and r.get("status") == "failed", "rate: %d" % code)
    t.check("nn.learning_rate" in r.get("reason", ""),
            "rate: reason '%s'" % r.get("reason"))
    code, r, _ = train(t, "args", *TWO, "nn.mpi_args=--no-such-option")
    t.check(code == 1 and r.get("status") == "failed",
            "an argument that mpirun does not know: %d %s" % (code, r))


def missing(t):
    code, _, err = train(t, "missing", *TWO,
                         env=dict(os.environ, PATH=t.path()))
    t.check(code == 4, "no mpirun: exit %d" % code)
    t.check("mpirun" in err and "openmpi" in err, "no mpirun: %s" % err)


def main():
    _, out, _ = run(["doctor"])
    for what in ("oneDNN", "Open MPI"):
        row = [line for line in out.splitlines() if line.startswith(what)]
        if not row or " ok " not in row[0]:
            print("SKIP: no %s; install libdnnl-dev, libopenmpi-dev, openmpi-bin"
                  % what)
            sys.exit(77)
    t = Scratch()
    same_losses(t)
    killed(t)
    interrupted(t)
    timed_out(t)
    failed(t)
    missing(t)
    t.finish("replicas by mpirun: done")


main()
