"""Emulated training in a hostile world: data that is missing, cut or foreign,
storage that fails or hangs, signals and kills at any moment, a full disk. The
part with a full disk needs root for a small file system of its own; skipped
loudly without."""

import glob
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time

from _robust import PRONY, Scratch, processes_with, run, start, wait_until

FILES = 12
FORMATS = ("npz", "npy", "hdf5", "tfrecord", "csv", "jpeg", "png",
           "indexed_binary", "mmap_indexed_binary")


def args(data, fmt="npz", **more):
    """Arguments for a small training; a name with __ stands for a dot."""
    values = {
        "exp.workload": "emulate", "dataset.format": fmt,
        "dataset.data_folder": data, "dataset.num_files_train": FILES,
        "dataset.num_files_eval": 4, "dataset.record_length_bytes": 20000,
        "reader.data_loader": "tensorflow" if fmt == "tfrecord"
        else "pytorch", "reader.batch_size": 2,
        "train.computation_time": 0.001, "emulate.drop_cache": "never",
    }
    values.update((k.replace("__", "."), v) for k, v in more.items())
    return ["%s=%s" % row for row in values.items()]


def make(t, data, fmt="npz", **more):
    """The data set; whether this build can."""
    code, _, err = run(["generate"] + args(data, fmt, **more))
    if code and "has no format" in err:
        print("SKIP: no %s in this build; see prony doctor" % fmt)
        return False
    return t.check(code == 0, "%s: generate: %d %s" % (fmt, code, err))


class Did:
    """A training that has ended, one way or another."""

    def __init__(self, where, code, err):
        self.where, self.code, self.err = where, code, err
        found = sorted(glob.glob(os.path.join(where, "experiments", "*")))
        self.dir = found[0] if found else where
        self.result = {}
        path = os.path.join(self.dir, "result.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.result = json.load(f)
        self.results = self.result.get("results", {})
        self.log = ""
        path = os.path.join(self.dir, "log.txt")
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as f:
                self.log = f.read()
        # What a user gets to see.
        self.said = err + self.result.get("reason", "") + self.log[-300:]
        self.warned = " ".join(self.result.get("warnings", [])) + self.log


def train(where, data, fmt="npz", **more):
    code, _, err = run(["run", "-o", where] + args(data, fmt, **more))
    return Did(where, code, err)


def half_made(*folders):
    """Files that should not outlive what makes them."""
    return [os.path.join(at, n) for folder in folders
            for at, _, names in os.walk(folder) for n in names
            if n.startswith((".part-", ".new-", ".tmp"))]


def victim(data, fmt, number=5):
    return sorted(glob.glob(os.path.join(data, "train", "*." + fmt)))[number]


# ---------------------------------------------------------------- bad files


def remove(path):
    os.unlink(path)


def cut(path):
    os.truncate(path, os.path.getsize(path) // 3)


def empty(path):
    os.truncate(path, 0)


def garbage(path):
    size = os.path.getsize(path)
    with open(path, "wb") as f:
        f.write(random.Random(1).randbytes(size))


def folder_instead(path):
    os.unlink(path)
    os.mkdir(path)


def forbidden(path):
    """Root may read it all the same; then it is no damage."""
    os.chmod(path, 0)


# A reader of raw samples or of text cannot know these from data.
UNSEEN = {("indexed_binary", garbage), ("mmap_indexed_binary", garbage),
          ("csv", empty), ("csv", cut)}


def damage_one(t, fmt, harm):
    what = "%s %s" % (fmt, harm.__name__)
    data = t.path("bad", fmt, harm.__name__)
    if not make(t, data, fmt):
        return
    path = victim(data, fmt)
    name = os.path.basename(path)
    harm(path)
    if harm is forbidden and os.access(path, os.R_OK):
        return
    d = train(t.path("bad-run", fmt, harm.__name__, "stop"), data, fmt,
              emulate__check_files="none")
    if (fmt, harm) in UNSEEN and d.code == 0:
        return
    t.check(d.code == 1, "%s: exit %d: %s" % (what, d.code, d.said))
    t.check(name in d.said, "%s: the file is not named: %s" % (what, d.said))
    t.check(d.result.get("status") == "failed", "%s: status %s" % (
        what, d.result.get("status")))
    t.check(not half_made(d.where, data), "%s: half-made files" % what)
    d = train(t.path("bad-run", fmt, harm.__name__, "skip"), data, fmt,
              emulate__check_files="none", reader__on_error="skip",
              train__epochs=2)
    t.check(d.code == 0, "%s: skip: exit %d: %s" % (what, d.code, d.said))
    t.check(d.results.get("skipped_samples") == 2, "%s: skip: %s samples "
            "skipped in two epochs" % (what, d.results.get("skipped_samples")))
    t.check(d.results.get("steps") == 12, "%s: skip: %s steps" % (
        what, d.results.get("steps")))
    t.check(name in d.warned, "%s: skip: no warning names the file: %s"
            % (what, d.result.get("warnings")))


def bad_files(t):
    for fmt in FORMATS:
        for harm in (remove, cut, empty, garbage, folder_instead, forbidden):
            damage_one(t, fmt, harm)


def bad_evaluation(t):
    data = t.path("eval")
    make(t, data)
    path = sorted(glob.glob(os.path.join(data, "valid", "*.npz")))[2]
    cut(path)
    d = train(t.path("eval-run"), data, workflow__evaluation="true",
              emulate__check_files="none")
    t.check(d.code == 1 and os.path.basename(path) in d.said,
            "evaluation: exit %d %s" % (d.code, d.said))
    d = train(t.path("eval-skip"), data, workflow__evaluation="true",
              emulate__check_files="none", reader__on_error="skip")
    t.check(d.code == 0, "evaluation, skip: exit %d %s" % (d.code, d.said))


def no_data(t):
    """Nothing there, or less than is wanted: what to do is said."""
    d = train(t.path("none-run"), t.path("none"))
    t.check(d.code != 0, "no data went unnoticed")
    t.check(t.path("none") in d.said and "generate" in d.said,
            "no data: the remedy is not named: %s" % d.said)
    t.check(not os.path.exists(t.path("none")), "made a data folder")
    data = t.path("few")
    make(t, data)
    d = train(t.path("few-run"), data, dataset__num_files_train=FILES + 8)
    t.check(d.code != 0 and "generate" in d.said,
            "too few files: exit %d %s" % (d.code, d.said))
    # One of them is gone: looked for before training.
    os.unlink(victim(data, "npz"))
    d = train(t.path("gone-run"), data, emulate__check_files="all")
    t.check(d.code != 0 and "img_05_of_12.npz" in d.said,
            "one gone: exit %d %s" % (d.code, d.said))
    d = train(t.path("other-run"), data, "tfrecord")
    t.check(d.code != 0 and "generate" in d.said,
            "another format: exit %d %s" % (d.code, d.said))


# -------------------------------------------------------------- bad storage


def faults(t):
    data = t.path("faults")
    make(t, data)
    for engine in ("pread", "mmap", "io_uring", "direct"):
        for fault in ("eio:read:0.2", "eio:open:3", "eacces:open:4",
                      "eio:read:7", "short:read:0.3"):
            what = "%s %s" % (engine, fault)
            name = what.replace(" ", "-").replace(":", "-")
            d = train(t.path("fault-run", name, "stop"), data,
                      storage__fault=fault, storage__engine=engine,
                      train__epochs=3, emulate__check_files="none")
            t.check(d.code == 1, "%s: exit %d %s" % (what, d.code, d.said))
            t.check("img_" in d.said, "%s: no file named: %s" % (
                what, d.said))
            t.check(any(w in d.said for w in (
                "Input/output error", "Permission denied", "ends at byte")),
                "%s: no reason: %s" % (what, d.said))
            d = train(t.path("fault-run", name, "skip"), data,
                      storage__fault=fault, storage__engine=engine,
                      reader__on_error="skip", train__epochs=3,
                      emulate__check_files="none")
            t.check(d.code == 0, "%s: skip: exit %d %s" % (
                what, d.code, d.said))
            t.check(d.results.get("skipped_samples", 0) > 0,
                    "%s: nothing skipped" % what)
            t.check(d.results.get("steps") == 18, "%s: skip: %s steps" % (
                what, d.results.get("steps")))
    # Everything fails, everything is skipped: that is no success to hide.
    d = train(t.path("all"), data, storage__fault="eio:read:0.999999",
              reader__on_error="skip", emulate__check_files="none")
    t.check(d.code == 0 and d.results.get("skipped_samples") == FILES,
            "all fail: exit %d, %s skipped" % (
                d.code, d.results.get("skipped_samples")))


# A read of the file that $HANG names never comes back, whatever signals say.
HANG = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static void look(int fd)
{
    char link[64], path[4096];
    const char *name = getenv("HANG");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (!name || n < 0)
        return;
    path[n] = 0;
    if (!strstr(path, name))
        return;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;)
        pause();
}
ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    look(fd);
    return syscall(SYS_pread64, fd, to, n, at);
}
ssize_t pread64(int fd, void *to, size_t n, off_t at)
{
    look(fd);
    return syscall(SYS_pread64, fd, to, n, at);
}
"""


def hanging_library(t):
    """Environment in which one file hangs; None without a compiler."""
    with open(t.path("hang.c"), "w", encoding="utf-8") as f:
        f.write(HANG)
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o",
                        t.path("hang.so"), t.path("hang.c")], check=True,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        print("SKIP: hung reads: no C compiler; install gcc")
        return None
    return {"LD_PRELOAD": t.path("hang.so"), "HANG": "img_05_of_12.npz"}


def one_hung(t, data, kind, threads, accelerators, env):
    what = "hung (%s, %d threads)" % (kind, threads)
    mark = "prony-hung-%d-%s-%d" % (os.getpid(), kind, threads)
    more = {} if env else {"storage__latency": 30}
    where = t.path("hung-run", "%s-%d" % (kind, threads))
    began = time.monotonic()
    code, _, err = run(["run", "-o", where] + args(
        data, reader__io_timeout=1, reader__read_threads=threads,
        exp__accelerators=accelerators, emulate__check_files="none", **more),
        env=dict(os.environ, MARK=mark, **env))
    took = time.monotonic() - began
    if "ASan runtime" in err:
        print("SKIP: hung reads: no preloaded library under a sanitizer; use "
              "another build")
        return
    d = Did(where, code, err)
    t.check(code in (1, 124), "%s: exit %d %s" % (what, code, d.said))
    t.check(1 <= took < 50, "%s: took %.1f s" % (what, took))
    t.check("has not come back" in d.said and "io_timeout" in d.said,
            "%s: not reported: %s" % (what, d.said))
    t.check(d.result.get("status") in ("failed", "timeout"),
            "%s: status %s" % (what, d.result.get("status")))
    if env:
        t.check(env["HANG"] in d.said, "%s: the file is not named" % what)
    t.check(not half_made(where), "%s: half-made %s" % (
        what, half_made(where)))
    t.check(wait_until(lambda: not processes_with(mark)),
            "%s: a process is left" % what)


def hung(t):
    """A call that does not come back is reported; nothing stays behind."""
    data = t.path("hung")
    make(t, data)
    library = hanging_library(t)
    for threads, accelerators in ((1, 1), (0, 1), (2, 3)):
        one_hung(t, data, "latency", threads, accelerators, {})
        if library:
            one_hung(t, data, "read", threads, accelerators, library)
    # A pipe in place of a file is not even opened.
    path = victim(data, "npz")
    os.rename(path, path + ".away")
    os.mkfifo(path)
    began = time.monotonic()
    d = train(t.path("pipe"), data, emulate__check_files="none")
    t.check(time.monotonic() - began < 50, "a pipe took long")
    t.check(d.code == 1 and os.path.basename(path) in d.said,
            "a pipe: exit %d %s" % (d.code, d.said))
    os.unlink(path)
    os.rename(path + ".away", path)
    # Slow is not hung: preparing and computing may take longer than that.
    d = train(t.path("slow"), data, reader__io_timeout=0.3,
              reader__preprocess_time=0.4, dataset__num_files_train=4,
              train__computation_time=0.5)
    t.check(d.code == 0, "slow, not hung: exit %d %s" % (d.code, d.said))


# ------------------------------------------------------------------ signals


def slow_generating(t, name):
    data = t.path(name, "data")
    return data, args(data, workflow__generate_data="true",
                      storage__throttle=400000, train__epochs=1,
                      dataset__num_files_train=40)


def slow_training(t, name):
    data = t.path(name, "data")
    make(t, data)
    return data, args(data, train__computation_time=0.12, train__epochs=2)


def generating(where, data):
    return any(not os.path.basename(n).startswith(".")
               for n in glob.glob(os.path.join(data, "train", "*")))


def training(where, data):
    logs = glob.glob(os.path.join(where, "experiments", "*", "log.txt"))
    for path in logs:
        with open(path, encoding="utf-8", errors="replace") as f:
            if "Starting block 1" in f.read():
                return True
    return False


def one_signal(t, number, status, prepare, ready):
    what = "%s by signal %d" % (prepare.__name__, number)
    name = "signal-%d-%s" % (number, prepare.__name__)
    os.mkdir(t.path(name))
    data, words = prepare(t, name)
    where = t.path(name, "run")
    mark = "prony-emulate-%d-%s" % (os.getpid(), name)
    p = start(["run", "-o", where] + words, env=dict(os.environ, MARK=mark))
    t.check(wait_until(lambda: ready(where, data)), what + ": start")
    time.sleep(0.1)
    began = time.monotonic()
    p.send_signal(number)
    _, err = p.communicate(timeout=60)
    took = time.monotonic() - began
    t.check(took < 50, "%s took %.1f s to end" % (what, took))
    t.check(p.returncode == status, "%s: exit %d, want %d: %s" % (
        what, p.returncode, status, err.decode()))
    t.check(b"--resume" in err, what + ": no word on resuming")
    d = Did(where, p.returncode, err.decode())
    t.check(d.result.get("status") == "interrupted", "%s: status %s" % (
        what, d.result.get("status")))
    t.check(not half_made(where, data), "%s: half-made: %s" % (
        what, half_made(where, data)))
    t.check(wait_until(lambda: not processes_with(mark)),
            what + ": a process is left")
    finish_it(t, what, where, data)


def finish_it(t, what, where, data):
    """--resume comes to a whole result."""
    code, _, err = run(["run", "--resume", where])
    d = Did(where, code, err)
    t.check(code == 0, "%s: resume: exit %d %s" % (what, code, d.said))
    t.check(d.result.get("status") == "ok", "%s: resumed: %s" % (
        what, d.result.get("status")))
    t.check(d.results.get("samples", 0) >= 24, "%s: resumed: %s samples" % (
        what, d.results.get("samples")))
    t.check(os.path.exists(os.path.join(d.dir, "summary.json")),
            what + ": resumed: no summary.json")
    t.check(not half_made(where, data), "%s: resumed: half-made: %s" % (
        what, half_made(where, data)))


def stuck(t):
    """Whatever it is waiting for, a signal ends it."""
    data = t.path("stuck")
    make(t, data)
    for number, more in enumerate((
            {"train__computation_time": 100},
            {"reader__preprocess_time": 100},
            {"reader__preprocess_time": 100, "reader__read_threads": 0},
            {"storage__latency": 100},
            {"storage__latency": 100, "reader__read_threads": 0},
            {"storage__throttle": 10},
            {"train__computation_time": 100, "exp__accelerators": 3,
             "train__barrier": "false"},
            {"evaluation__eval_time": 100, "workflow__evaluation": "true"})):
        where = t.path("stuck-%d" % number)
        mark = "prony-stuck-%d-%d" % (os.getpid(), number)
        p = start(["run", "-o", where] + args(
            data, emulate__check_files="none", **more),
            env=dict(os.environ, MARK=mark))
        t.check(wait_until(lambda w=where: training(w, data)),
                "%s: start" % more)
        time.sleep(0.2)
        began = time.monotonic()
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=60)
        took = time.monotonic() - began
        t.check(took < 50, "%s: %.1f s to end" % (more, took))
        t.check(p.returncode == 130, "%s: exit %d: %s" % (
            more, p.returncode, err.decode()))
        d = Did(where, p.returncode, err.decode())
        t.check(d.result.get("status") == "interrupted", "%s: status %s" % (
            more, d.result.get("status")))
        t.check(not half_made(where, data), "%s: half-made %s" % (
            more, half_made(where, data)))
        t.check(wait_until(lambda m=mark: not processes_with(m)),
                "%s: a process is left" % more)


def signals(t):
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        one_signal(t, number, status, slow_generating, generating)
        one_signal(t, number, status, slow_training, training)


def kill_all(mark):
    """The whole tree at once, as a power cut would."""
    for _ in range(20):
        found = processes_with(mark)
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def kills(t):
    rng = random.Random(4)
    for prepare, ready in ((slow_generating, generating),
                           (slow_training, training)):
        for number in range(3):
            name = "kill-%s-%d" % (prepare.__name__, number)
            os.mkdir(t.path(name))
            data, words = prepare(t, name)
            where = t.path(name, "run")
            mark = "prony-%s-%d" % (name, os.getpid())
            p = start(["run", "-o", where] + words,
                      env=dict(os.environ, MARK=mark))
            if number:
                t.check(wait_until(lambda w=where, d=data: ready(w, d)),
                        name + ": start")
                time.sleep(rng.uniform(0, 0.3))
            else:
                wait_until(lambda w=where: os.path.exists(
                    os.path.join(w, "plan.json")))
            kill_all(mark)
            p.communicate()
            t.check(not processes_with(mark), name + ": a process is left")
            for path in glob.glob(os.path.join(where, "experiments", "*",
                                               "*.json")):
                with open(path, encoding="utf-8") as f:
                    try:
                        json.load(f)
                    except ValueError as e:
                        t.check(False, "%s: %s is torn: %s" % (name, path, e))
            finish_it(t, name, where, data)


# ---------------------------------------------------------------- full disks


def fill(path):
    with open(path, "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"x" * 4096)
        except OSError:
            pass


def full_disk(t):
    mount = t.path("small")
    os.mkdir(mount)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none",
                       mount], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        print("SKIP: full disk: no rights to mount; run it as root")
        return
    try:
        data = t.path("room")
        make(t, data)
        for number, more in enumerate((
                {}, {"emulate__trace": "true"},
                {"output__folder": os.path.join(mount, "second")})):
            # The results do not fit: the disk is filled while it trains.
            where = os.path.join(mount, "run")
            p = start(["run", "-o", where] + args(
                data, train__computation_time=0.15, **more))
            t.check(wait_until(lambda: training(where, data)), "start")
            fill(os.path.join(mount, "filler"))
            _, err = p.communicate(timeout=60)
            d = Did(where, p.returncode, err.decode())
            t.check(p.returncode not in (0, -6, -11), "full disk %d: exit %d"
                    % (number, p.returncode))
            t.check("No space left" in d.said, "full disk %d: no reason: %s"
                    % (number, d.said))
            t.check(not half_made(mount), "full disk %d: half-made %s" % (
                number, half_made(mount)))
            os.unlink(os.path.join(mount, "filler"))
            code, _, err = run(["run", "--resume", where, "--retry", "0"])
            t.check(code == 0, "with room again: exit %d %s" % (code, err))
            for name in os.listdir(mount):
                shutil.rmtree(os.path.join(mount, name))
        # The data does not fit.
        d = train(t.path("large-run"), os.path.join(mount, "data"),
                  workflow__generate_data="true",
                  dataset__record_length_bytes=1000000)
        t.check(d.code != 0 and ("missing" in d.said or "No space" in d.said),
                "data too large: exit %d %s" % (d.code, d.said))
        t.check(not half_made(mount), "data too large: half-made")
    finally:
        subprocess.run(["umount", "-l", mount], check=False)


def places(t):
    """A second folder that cannot be made, a data folder that is a file."""
    data = t.path("places")
    make(t, data)
    with open(t.path("file"), "w", encoding="utf-8") as f:
        f.write("mine")
    d = train(t.path("places-1"), data, output__folder=t.path("file"))
    t.check(d.code != 0 and t.path("file") in d.said,
            "output.folder is a file: exit %d %s" % (d.code, d.said))
    d = train(t.path("places-2"), t.path("file"),
              workflow__generate_data="true")
    t.check(d.code != 0 and t.path("file") in d.said,
            "data folder is a file: exit %d %s" % (d.code, d.said))
    with open(t.path("file"), encoding="utf-8") as f:
        t.check(f.read() == "mine", "somebody's file was changed")
    t.check(stat.S_ISREG(os.stat(t.path("file")).st_mode), "no file now")
    # Data that somebody else made is not replaced.
    os.makedirs(t.path("foreign", "train"))
    with open(t.path("foreign", "train", "mine"), "w",
              encoding="utf-8") as f:
        f.write("mine")
    d = train(t.path("places-3"), t.path("foreign"),
              workflow__generate_data="true")
    t.check(os.path.exists(t.path("foreign", "train", "mine")),
            "somebody's file was removed")


TESTS = (bad_files, bad_evaluation, no_data, faults, hung, stuck, signals,
         kills, full_disk, places)


def main():
    t = Scratch()
    print("# " + PRONY)
    wanted = sys.argv[1:]
    tests = [f for f in TESTS if not wanted or f.__name__ in wanted]
    for n, test in enumerate(tests, 1):
        before = t.failed
        began = time.monotonic()
        test(t)
        print("%sok %d - %s (%.1f s)" % (
            "" if t.failed == before else "not ", n, test.__name__,
            time.monotonic() - began), flush=True)
    print("1..%d" % len(tests))
    t.finish("# emulated training in a hostile world")


main()
