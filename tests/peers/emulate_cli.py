#!/usr/bin/python3
"""What emulated training does with what its parameters say, seen from outside:
how many samples come, in what order, to which accelerator; what is read and
how long it takes at least. No row depends on how fast the machine is.

Usage: emulate_cli.py [WORD…]     (only rows whose name holds one of the words)

DLIO is the reference for the row "compat"; its figures are known ones. One
line of TAP for each matter.
"""
import glob
import json
import os
import random
import re
import shutil
import statistics
import subprocess

from _emulate import Outcome, Tap, run

PLAIN = ("workflow.generate_data=True", "workflow.evaluation=False",
         "dataset.num_subfolders_train=0", "dataset.num_subfolders_eval=0",
         "dataset.num_files_eval=8", "dataset.record_length_bytes=1024",
         "train.computation_time=0.001", "evaluation.eval_time=0.001",
         "train.epochs=1", "emulate.drop_cache=never")
TRACE = "emulate.trace=true"


def go(g, folder, *args, status=0, **more):
    """A run of DLIO's default workload, made small."""
    r = run(folder, "default", *PLAIN, *args, **more)
    g.equal(r.status, status, "status: " + r.why() + r.text()[-500:])
    return r


def steps_of(r, accelerator=0):
    """Steps of each epoch."""
    return [len(e["load"]["block1"]) for key, e
            in r.outputs[accelerator].items() if key.isdigit()]


# -------------------------------------------------------------------- counts


def drop_last(g, folder, loader, accelerators, files, per_file, batch):
    total = files * per_file
    args = ("dataset.num_files_train=%d" % files, TRACE,
            "dataset.num_samples_per_file=%d" % per_file,
            "reader.batch_size=%d" % batch, "reader.data_loader=" + loader,
            "exp.accelerators=%d" % accelerators)
    r = go(g, folder, *args, name="on")
    used = total - total % (batch * accelerators)
    g.equal(r.results["samples"], used, "samples")
    g.equal(r.results["steps"], used // batch, "steps")
    seen = r.order(1)
    g.equal(len(seen), used, "samples read")
    g.equal(len(set(seen)), used, "different samples read")
    r = go(g, folder, "reader.drop_last=false", *args, name="off")
    g.equal(r.results["samples"], total, "samples without drop_last")
    g.equal(sorted(r.order(1)), list(range(total)), "samples read")
    by = r.results["by_accelerator"]["samples"]
    g.equal(sum(by), total, "samples of accelerators")
    g.check(max(by) - min(by) <= 1, "shares %s" % by)
    g.equal(r.results["steps"], sum(-(-n // batch) for n in by), "steps")


def caps(g, folder):
    base = ("dataset.num_files_train=32", "reader.batch_size=4",
            "train.epochs=2")
    for cap, of, want, warns in (
            (3, "epoch", [3, 3], False), (8, "epoch", [8, 8], False),
            (9, "epoch", [8, 8], True), (0, "epoch", [8, 8], False),
            (-1, "run", [8, 8], False), (10, "run", [8, 2], False),
            (5, "run", [5], False), (16, "run", [8, 8], False),
            (17, "run", [8, 8], True)):
        r = go(g, folder, *base, "train.total_training_steps=%d" % cap,
               "train.total_training_steps_of=" + of,
               name="%s%d" % (of, cap))
        got = [n for n in steps_of(r) if n]
        g.equal(got, want, "steps with a cap of %d an %s" % (cap, of))
        g.equal("total_training_steps asks for" in r.warnings, warns,
                "cap %d of %s: warning (%s)" % (cap, of, r.warnings))


def older_names(g, folder):
    """total_training_steps is that of the run there."""
    path = os.path.join(folder, "old.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write("""
model: old
framework: pytorch
workflow: {generate_data: True, train: True}
dataset: {data_dir: data, format: npz, num_files_train: 32, batch_size: 4,
          record_length: 1024, num_files_val: 8}
data_loader: {data_loader: pytorch, prefetch: true, read_shuffle: true}
train: {n_epochs: 3, total_training_steps: 10, computation_time: 0.001,
        do_eval: true, eval_time: 0.001}
""")
    r = run(folder, path, TRACE)
    if g.check(r.status == 0, r.why()):
        g.equal([n for n in steps_of(r) if n], [8, 2], "steps")
        g.check(r.order(1) != sorted(r.order(1)), "read_shuffle does nothing")
        g.check("eval" in r.outputs[0]["1"]["load"], "do_eval does nothing")


def cadence(g, folder, after, between, want):
    r = go(g, folder, "workflow.evaluation=True", "train.epochs=6",
           "dataset.num_files_train=8", "exp.accelerators=2",
           "evaluation.eval_after_epoch=%d" % after,
           "evaluation.epochs_between_evals=%d" % between)
    got = [p["epoch"] for p in r.results["by_epoch"] if p["phase"] == "eval"]
    g.equal(got, want, "epochs that are evaluated")
    for output in r.outputs:
        got = [int(k) for k, e in output.items()
               if k.isdigit() and "eval" in e["load"]]
        g.equal(got, want, "evaluations in output.json")
    g.equal(r.results.get("eval_samples", 0), 8 * len(want), "eval_samples")


def counts(tap):
    for loader in ("pytorch", "tensorflow", "dali", "synthetic"):
        for row in ((2, 17, 1, 4), (1, 5, 7, 4), (3, 25, 1, 2), (4, 3, 5, 1)):
            if loader == "synthetic":
                continue
            tap.row("drop_last", "%s %s" % (loader, row), drop_last, loader,
                    *row)
    tap.row("total_training_steps", "", caps)
    tap.row("older names", "", older_names)
    for row in ((1, 1, [1, 2, 3, 4, 5, 6]), (2, 2, [2, 4, 6]),
                (3, 5, [3]), (6, 1, [6]), (7, 1, []), (1, 3, [1, 4])):
        tap.row("cadence of evaluation", str(row), cadence, *row)


# --------------------------------------------------------------------- order


def orders(g, folder, name, *args, epochs=2):
    r = go(g, folder, TRACE, "train.epochs=%d" % epochs,
           "reader.read_threads=1", *args, name=name)
    return [r.order(e + 1) for e in range(epochs)]


def shuffles(g, folder, loader, per_file):
    n = 48
    base = ("dataset.num_files_train=%d" % (n // per_file),
            "dataset.num_samples_per_file=%d" % per_file,
            "reader.data_loader=" + loader)
    everything = list(range(n))
    # tensorflow shuffles within a window, and reads in order.
    if loader == "tensorflow":
        base += ("reader.shuffle_size=0", "reader.file_shuffle=seed")
        kind = "reader.file_shuffle="
    else:
        kind = "reader.sample_shuffle="
    seed = orders(g, folder, "seed", *base, kind + "seed")
    again = orders(g, folder, "again", *base, kind + "seed")
    other = orders(g, folder, "other", *base, kind + "seed", "train.seed=7")
    same = orders(g, folder, "same", *base, kind + "seed",
                  "train.seed_change_epoch=False")
    chance = orders(g, folder, "chance", *base, kind + "random")
    later = orders(g, folder, "later", *base, kind + "random")
    for got in (seed, again, other, same, chance, later):
        for one in got:
            g.equal(sorted(one), everything, "samples read")
    g.equal(seed, again, "the same seed")
    g.check(seed[0] != everything, "not shuffled")
    g.check(seed[0] != seed[1], "two epochs alike")
    g.check(seed != other, "another seed, the same order")
    g.equal(same[0], same[1], "seed_change_epoch=False")
    g.check(chance[0] != later[0] and chance[0] != chance[1]
            and chance[0] != seed[0], "by chance, yet alike")


def sequential(g, folder, loader, value):
    """off, however it is spelled, and nothing said."""
    args = ["reader.sample_shuffle=" + value, "reader.file_shuffle=" + value]
    got = orders(g, folder, "off", "dataset.num_files_train=24",
                 "dataset.num_samples_per_file=2",
                 "reader.data_loader=" + loader, *(args if value else []))
    g.equal(got, [list(range(48))] * 2, "order")


def file_shuffle(g, folder):
    """Files in another order, their samples in theirs."""
    got = orders(g, folder, "files", "dataset.num_files_train=24",
                 "dataset.num_samples_per_file=2", "reader.file_shuffle=seed")
    for one in got:
        firsts = one[::2]
        g.equal(sorted(one), list(range(48)), "samples")
        g.equal(one[1::2], [s + 1 for s in firsts], "second samples")
        g.check(all(s % 2 == 0 for s in firsts), "a file is torn apart")
        g.check(firsts != sorted(firsts), "files are in order")
    g.check(got[0] != got[1], "two epochs alike")


def windowed(g, folder):
    """Delivered shuffled, read in order: that is what a buffer is for."""
    got = orders(g, folder, "window", "dataset.num_files_train=48",
                 "reader.data_loader=tensorflow", "reader.shuffle_size=8",
                 "reader.sample_shuffle=seed")
    for one in got:
        g.equal(sorted(one), list(range(48)), "samples")
        far = max(abs(s - i) for i, s in enumerate(one))
        g.check(far <= 8, "read %d places from where it is" % far)


def shards(g, folder, loader, shuffle):
    r = go(g, folder, TRACE, "exp.accelerators=4", "reader.batch_size=2",
           "dataset.num_files_train=24", "dataset.num_samples_per_file=2",
           "train.epochs=2", "reader.data_loader=" + loader,
           "reader.sample_shuffle=" + shuffle, "reader.file_shuffle="
           + shuffle, name="multi")
    for epoch in (1, 2):
        lots = [r.order(epoch, a) for a in range(4)]
        g.equal([len(x) for x in lots], [12] * 4, "samples of accelerators")
        g.equal(sorted(sum(lots, [])), list(range(48)), "all of them")
        if shuffle == "off":
            for a, lot in enumerate(lots):
                g.equal(sorted(lot), list(range(12 * a, 12 * a + 12)),
                        "samples of accelerator %d" % a)
    r = go(g, folder, TRACE, "exp.accelerators=4", "reader.batch_size=2",
           "dataset.num_files_train=24", "dataset.num_samples_per_file=2",
           "reader.data_loader=" + loader, "reader.sample_shuffle=" + shuffle,
           "reader.file_access=shared", name="shared")
    lots = [r.order(1, a) for a in range(4)]
    g.equal(sorted(sum(lots, [])), list(range(48)), "shared: all of them")
    if shuffle == "off":
        for a, lot in enumerate(lots):
            g.equal(sorted(lot), list(range(a, 48, 4)),
                    "shared: samples of accelerator %d" % a)


def real_files(g, folder, fmt, per_file, shuffle):
    """The samples of the trace are what is asked of the storage."""
    log = os.path.join(folder, "io.%t")
    base = ("dataset.format=" + fmt, "dataset.num_files_train=12",
            "dataset.num_samples_per_file=%d" % per_file,
            "dataset.record_length_bytes=1024")
    go(g, folder, *base, name="make")
    r = go(g, folder, *base, TRACE, "workflow.generate_data=False",
           "reader.sample_shuffle=" + shuffle, "reader.read_threads=1",
           "storage.trace=" + log)
    seen = []
    for path in glob.glob(os.path.join(folder, "io.*")):
        with open(path, encoding="utf-8") as f:
            for e in map(json.loads, f):
                name = re.search(r"/train/img_(\d+)_of_12\.%s$" % fmt,
                                 e["name"])
                if e["op"] == "read" and name and e["bytes"]:
                    at = e["offset"] // 1024 if fmt == "indexed_binary" else 0
                    seen.append((e["start_ns"], int(name[1]) * per_file + at))
    seen = [s for _, s in sorted(seen)]
    # A sample may take several reads.
    seen = [s for i, s in enumerate(seen) if not i or s != seen[i - 1]]
    g.equal(seen, r.order(1), "read from files, and said")


def compat(g, folder):
    """DLIO's own order, its gaps and repeats included."""
    base = ("emulate.compat=dlio", TRACE, "exp.accelerators=2",
            "dataset.num_files_train=8", "reader.batch_size=1")
    r = go(g, folder, *base, "reader.data_loader=pytorch",
           "framework=pytorch", "reader.sample_shuffle=seed",
           "reader.read_threads=1", name="torch")
    g.equal([r.order(1, a) for a in (0, 1)], [[0, 1, 2, 3], [4, 5, 6, 7]],
            "pytorch: never shuffled")
    r = go(g, folder, *base, "reader.data_loader=tensorflow",
           "framework=tensorflow", "reader.read_threads=2", name="tf")
    g.equal([sorted(r.order(1, a)) for a in (0, 1)],
            [[0, 1, 2, 3], [1, 2, 3, 4]], "tensorflow: ranks overlap")


def order_rows(tap):
    for loader in ("pytorch", "dali", "tensorflow"):
        for per_file in (1, 3):
            tap.row("shuffles", "%s %d" % (loader, per_file), shuffles,
                    loader, per_file)
        for value in ("", "off", "False"):
            tap.row("not shuffled", loader + " " + value, sequential, loader,
                    value)
        for shuffle in ("off", "seed", "random"):
            tap.row("shards", loader + " " + shuffle, shards, loader, shuffle)
    tap.row("file_shuffle", "", file_shuffle)
    tap.row("windowed shuffle", "", windowed)
    for fmt, per_file in (("npz", 1), ("npy", 1), ("indexed_binary", 4)):
        for shuffle in ("off", "seed", "random"):
            tap.row("samples are in their files", fmt + " " + shuffle,
                    real_files, fmt, per_file, shuffle)
    tap.row("emulate.compat=dlio", "", compat)


# ------------------------------------------------------------------- reading


def memory(g, folder, loader, shuffle):
    base = ("dataset.num_files_train=16", "train.epochs=3",
            "exp.accelerators=2", "reader.data_loader=" + loader,
            "reader.sample_shuffle=" + shuffle)
    disk = go(g, folder, *base, name="disk")
    held = go(g, folder, *base, "reader.read_type=memory", name="memory")
    g.check(all(p["mb_per_second"] > 0 for p in disk.results["by_epoch"]),
            "on_demand: nothing read")
    speed = [p["mb_per_second"] for p in held.results["by_epoch"]]
    g.check(speed[0] > 0, "first epoch read nothing")
    read = held.results["bytes_read"]
    if shuffle == "off":
        # Every accelerator has its own samples again.
        g.equal(speed[1:], [0, 0], "MB/s of later epochs")
        g.equal(read * 3, disk.results["bytes_read"], "bytes read")
    g.check(read < disk.results["bytes_read"], "nothing saved")
    g.equal(held.results["samples"], disk.results["samples"], "samples")
    g.equal(held.results["bytes_delivered"], disk.results["bytes_delivered"],
            "bytes delivered")


def ways(g, folder, name, engine, *args):
    r = go(g, folder, "dataset.num_files_train=16", "exp.accelerators=2",
           "dataset.record_length_bytes=300000", *args)
    g.equal(r.results["samples"], 16, "samples")
    g.check(r.results["bytes_read"] >= 16 * 298000, "bytes read: %d"
            % r.results["bytes_read"])
    if engine and "instead" not in r.warnings + r.text():
        g.equal(r.results["engine"], engine, "engine")


def transfer(g, folder, size):
    """Seen from the kernel's side: no call asks for more."""
    log = os.path.join(folder, "calls")
    strace = ["strace", "-f", "-y", "-o", log, "-e", "trace=pread64"]
    if not shutil.which("strace") or subprocess.run(
            strace + ["true"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False).returncode:
        g.skip = "no strace here; install it"
        return
    base = ("dataset.num_files_train=4", "dataset.record_length_bytes=1000000")
    go(g, folder, *base, name="make")
    go(g, folder, *base, "workflow.generate_data=False",
       "reader.transfer_size=%d" % size,
       "monitor.frequency=0",  # calls of two threads would be cut in two
       under=strace,
       env={"ASAN_OPTIONS": "detect_leaks=0"})
    with open(log, encoding="utf-8", errors="replace") as f:
        lengths = [int(m[1]) for m in re.finditer(
            r"pread64\(\d+<.*\.npz>, .*, (\d+), \d+", f.read())]
    g.check(sum(lengths) >= 3990000, "%d bytes" % sum(lengths))
    g.check(max(lengths + [0]) <= size, "a read of %d bytes"
            % max(lengths + [0]))


def keep_files(g, folder):
    """Only what the run made itself is taken away."""
    def train(name, keep):
        go(g, folder, "dataset.keep_files=" + keep,
           "dataset.num_files_train=8", "dataset.data_folder=" + name,
           name="%s-%s" % (name, keep))
        return glob.glob(os.path.join(folder, name, "*", "*.npz"))
    g.equal(train("gone", "False"), [], "files that are left")
    g.equal(len(train("kept", "True")), 16, "files kept")
    g.equal(len(train("kept", "False")), 16, "files that were there before")
    mine = os.path.join(folder, "mixed", "notes.txt")
    os.mkdir(os.path.dirname(mine))
    with open(mine, "w", encoding="utf-8") as f:
        f.write("mine")
    g.equal(train("mixed", "False"), [], "files that are left")
    g.check(os.path.exists(mine), "removed somebody's file")


def sweep(g, folder):
    r = run(folder, "default", *PLAIN, "dataset.num_files_train=32",
            more=("-V", "exp.accelerators=[1, 2, 4]"))
    g.equal(r.status, 0, r.why())
    g.equal(len(r.all), 3, "experiments")
    for number, accelerators in enumerate((1, 2, 4)):
        if len(r.all) != 3:
            break
        r = Outcome(r.status, r.out, r.err, r.run, number)
        v = r.results
        g.equal(v["accelerators"], accelerators, "accelerators")
        g.equal(v["samples"], 32, "samples")
        g.equal(v["steps"], 8, "steps")
        g.equal(len(r.outputs), accelerators, "files R_output.json")


def reading(tap):
    for loader in ("pytorch", "tensorflow"):
        for shuffle in ("off", "seed"):
            tap.row("read_type=memory", loader + " " + shuffle, memory,
                    loader, shuffle)
    tap.row("ways to read", "hold", ways, "hold", "", "reader.hold=true",
            "reader.prefetch_size=4")
    tap.row("ways to read", "odirect", ways, "odirect", "direct",
            "reader.odirect=True")
    tap.row("ways to read", "decode", ways, "decode", "",
            "reader.decode=False")
    for engine in ("pread", "direct", "mmap", "io_uring"):
        tap.row("ways to read", engine, ways, engine, engine,
                "storage.engine=" + engine)
    for size in (4096, 65536):
        tap.row("transfer_size", str(size), transfer, size)
    tap.row("keep_files", "", keep_files)
    tap.row("sweep over accelerators", "", sweep)


# --------------------------------------------------------------------- times


def barrier(g, folder):
    args = ("exp.accelerators=4", "dataset.num_files_train=64",
            "train.computation_time.type=exponential",
            "train.computation_time.scale=0.003")
    plain = tuple(a for a in PLAIN if "computation" not in a)
    shares = []
    for value in ("True", "False"):
        r = run(folder, "default", *plain, *args, "train.barrier=" + value,
                name=value)
        g.equal(r.status, 0, r.why())
        shares.append(r.results["barrier_share"])
        g.equal(r.results["steps"], 16, "steps")
    g.check(shares[0] > 0.02, "barrier on: share %g" % shares[0])
    g.check(shares[1] < shares[0], "barrier off: share %g" % shares[1])


def preprocess(g, folder):
    """16 samples of 10 ms: 0.16 s on one thread, half on two."""
    best = {}
    for threads in (1, 2):
        for attempt in range(3):
            r = go(g, folder, "dataset.num_files_train=16",
                   "reader.read_threads=%d" % threads,
                   "reader.preprocess_time=0.01", "train.computation_time=0",
                   name="%d-%d" % (threads, attempt))
            seconds = r.results["seconds"]
            g.check(seconds >= 0.155 / threads, "%d threads took %g s" % (
                threads, seconds))
            best[threads] = min(seconds, best.get(threads, 99))
            if best[threads] < 0.2 / threads:
                break
    g.check(best[2] < best[1], "two threads took %g s, one %g s" % (
        best[2], best[1]))


def distribution_of_preprocess(g, folder):
    r = go(g, folder, "dataset.num_files_train=16", "train.computation_time=0",
           "reader.preprocess_time.type=uniform",
           "reader.preprocess_time.min=0.005",
           "reader.preprocess_time.max=0.010")
    g.check(r.results["seconds"] >= 0.08, "%g s" % r.results["seconds"])


def accuracy(g, folder):
    r = go(g, folder, "reader.data_loader=synthetic", "reader.batch_size=1",
           "dataset.num_files_train=100", "train.computation_time=0.01")
    v = r.results
    g.equal(v["steps"], 100, "steps")
    g.check(v["seconds"] >= 1.0 - 1e-9, "%g s for 100 steps of 10 ms"
            % v["seconds"])
    g.check(0 < v["utilisation"] <= 1, "utilisation %r" % v["utilisation"])
    g.check(v["late_us_mean"] >= 0, "late_us_mean")
    g.equal(v["bytes_read"], 0, "bytes read")
    print("# mean error of a step: %.1f us, the largest %.1f us" % (
        v["late_us_mean"], v["late_us_max"]))


def zero_threads(g, folder):
    """Reading and computing do not overlap then."""
    for threads, least in ((0, 0.24), (1, 0.16)):
        r = go(g, folder, "dataset.num_files_train=8", "reader.batch_size=1",
               "reader.read_threads=%d" % threads,
               "reader.preprocess_time=0.02", "train.computation_time=0.01",
               name=str(threads))
        g.check(r.results["seconds"] >= least - 0.005, "%d threads: %g s" % (
            threads, r.results["seconds"]))


def drop_cache(g, folder):
    """Dropped before each epoch, the data comes from a device again."""
    r = go(g, folder, "dataset.num_files_train=16", "train.epochs=2",
           "dataset.record_length_bytes=200000", "emulate.drop_cache=epoch")
    for p in r.results["by_epoch"]:
        if "cached_share" not in p:
            g.skip = "no word on the page cache here; use Linux 6.5"
            return
        # On a file system in memory nothing can be dropped.
        if os.statvfs(folder).f_fsid and p["cached_share"] > 0.9:
            g.skip = "pages cannot be dropped here; run it on a disk"
            return
        g.check(p["cached_share"] < 0.1, "cached: %g" % p["cached_share"])


def close(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1e-6)


def figures(g, folder, accelerators, batch):
    """Figures that follow from others, by our definitions and by DLIO's."""
    r = go(g, folder, "exp.accelerators=%d" % accelerators,
           "reader.batch_size=%d" % batch, "train.epochs=3",
           "dataset.num_files_train=64", "train.computation_time=0.004",
           "reader.preprocess_time=0.0005")
    v = r.results
    for name, value in (
            ("samples_per_second", v["samples"] / v["seconds"]),
            ("storage_mb_per_second", v["bytes_read"] / v["seconds"] / 1e6),
            ("utilisation", 0.004 * v["steps"] / accelerators / v["seconds"]),
            ("seconds", sum(p["seconds"] for p in v["by_epoch"])),
            ("utilisation", sum(v["by_accelerator"]["utilisation"])
             / accelerators)):
        g.check(close(v[name], value), "%s is %r, follows %r" % (
            name, v[name], value))
    shares = v["utilisation"] + v["wait_share"] + v["barrier_share"]
    g.check(0.5 < shares < 1 + 1e-6, "shares come to %r" % shares)
    g.check(v["wait_ms_p50"] <= v["wait_ms_p90"] <= v["wait_ms_p99"]
            <= v["wait_ms_max"], "waits")
    g.check(4 <= v["step_ms_p50"] * 1.01 <= v["step_ms_max"] * 1.01, "steps")
    m = r.summary["metric"]
    epochs = [str(e + 1) for e in range(3)]
    for i, e in enumerate(epochs):
        for o in r.outputs:
            au, speed = o[e]["au"]["block1"], o[e]["throughput"]["block1"]
            n = len(o[e]["compute"]["block1"])
            # Both are divided by the same time; computing is as planned.
            if speed and au < 100:
                want = 100 * 0.004 * (n - 1) / ((n - 2) * batch)
                g.check(abs(au / speed - want) < 1e-3 * want + 1e-9,
                        "au / throughput is %r, want %r" % (au / speed, want))
        au = sum(o[e]["au"]["block1"] for o in r.outputs) / accelerators
        g.check(close(m["train_au_percentage"][i], au), "AU of an epoch")
        speed = sum(o[e]["throughput"]["block1"] for o in r.outputs)
        g.check(close(m["train_throughput_samples_per_second"][i], speed),
                "throughput of an epoch")
    for name, unit in (("au", "percentage"),
                       ("throughput", "samples_per_second")):
        values = m["train_%s_%s" % (name, unit)]
        g.check(close(m["train_%s_mean_%s" % (name, unit)],
                      statistics.mean(values)), name + ": mean")
        g.check(close(m["train_%s_stdev_%s" % (name, unit)],
                      statistics.pstdev(values)), name + ": deviation")
    # By what was read, which is more than the 1024 bytes of a sample.
    g.check(v["bytes_read"] > 1024 * v["samples"], "bytes read")
    g.check(close(m["train_io_mean_MB_per_second"],
                  v["bytes_read"] / v["samples"] / 2**20
                  * m["train_throughput_mean_samples_per_second"]), "MB/s")
    g.equal(m["train_au_meet_expectation"], "success"
            if m["train_au_mean_percentage"] >= 90 else "fail", "verdict")
    for name in ("train_au_mean_percentage", "train_io_mean_MB_per_second"):
        g.check(close(v["dlio." + name], m[name]), name)


def times(tap):
    for accelerators, batch in ((1, 1), (1, 4), (4, 2), (3, 4)):
        tap.row("figures agree", "%d/%d" % (accelerators, batch), figures,
                accelerators, batch)
    tap.row("train.barrier", "", barrier)
    tap.row("preprocess_time", "", preprocess)
    tap.row("preprocess_time", "uniform", distribution_of_preprocess)
    tap.row("read_threads=0", "", zero_threads)
    tap.row("emulated computing", "", accuracy)
    tap.row("drop_cache", "", drop_cache)


# ------------------------------------------------------------------ anything


def random_config(rng):
    pick = rng.choice
    accelerators = pick((1, 1, 2, 3, 5, 16))
    c = {
        "dataset.format": pick(("npz", "npy", "indexed_binary", "tfrecord",
                                "csv", "mmap_indexed_binary")),
        "dataset.num_files_train": rng.randint(1, 40),
        "dataset.num_samples_per_file": pick((1, 1, 2, 7)),
        "dataset.num_subfolders_train": pick((0, 0, 2, 3)),
        "dataset.num_files_eval": rng.randint(1, 9),
        "dataset.record_length_bytes": pick((64, 1000, 5000)),
        "reader.data_loader": pick(("pytorch", "tensorflow", "dali",
                                    "native_dali")),
        "reader.batch_size": pick((1, 2, 3, 8)),
        "reader.read_threads": pick((0, 1, 2, 5)),
        "reader.computation_threads": pick((1, 3)),
        "reader.prefetch_size": pick((0, 1, 2, 9)),
        "reader.sample_shuffle": pick(("off", "seed", "random")),
        "reader.file_shuffle": pick(("off", "seed", "random")),
        "reader.shuffle_size": pick((0, 0, 1, 5, 100)),
        "reader.drop_last": pick(("true", "false")),
        "reader.read_type": pick(("on_demand", "on_demand", "memory")),
        "reader.file_access": pick(("multi", "shared")),
        "reader.hold": pick(("false", "false", "true")),
        "reader.decode": pick(("true", "false")),
        "reader.preprocess_time": pick((0, 0, 0.0003)),
        "storage.engine": pick(("pread", "pread", "mmap", "io_uring",
                                "direct", "memory")),
        "train.epochs": pick((1, 2, 3)),
        "train.computation_time": pick((0, 0.0005)),
        "train.barrier": pick(("true", "false")),
        "train.total_training_steps": pick((-1, -1, 2)),
        "workflow.evaluation": pick(("true", "false")),
        "exp.accelerators": accelerators,
        "emulate.io_threads": pick((0, 0, 1, 3)),
        "emulate.trace": "true",
    }
    total = c["dataset.num_files_train"] * c["dataset.num_samples_per_file"]
    if total < accelerators * c["reader.batch_size"]:
        c["reader.drop_last"] = "false"
    return c, total


def anything(g, folder, seed):
    """Whatever is asked for: each sample at most once an epoch, all of them
    when nothing is dropped, and everything counted."""
    c, total = random_config(random.Random(seed))
    r = go(g, folder, *("%s=%s" % row for row in c.items()))
    if r.status:
        g.check(False, " ".join("%s=%s" % row for row in c.items()))
        return
    accelerators, batch = c["exp.accelerators"], c["reader.batch_size"]
    drop = c["reader.drop_last"] == "true"
    used = total - total % (batch * accelerators) if drop else total
    cap = c["train.total_training_steps"]
    v, epochs = r.results, c["train.epochs"]
    by = v["by_accelerator"]["samples"]
    g.equal(sum(by), v["samples"], "samples of accelerators")
    if cap < 0:
        g.equal(v["samples"], used * epochs, "samples")
        g.check(max(by) - min(by) <= epochs, "shares %s" % by)
    else:
        g.check(0 < v["samples"] <= cap * batch * accelerators * epochs,
                "samples with a cap: %d" % v["samples"])
    items = {}
    starts = [e["ts"] for e in r.events("evaluate", 0)]
    ends = [e["ts"] + e["dur"] for e in r.events("evaluate", 0)]
    for e in r.events("item"):
        # Those of an evaluation lie within it.
        if not any(a <= e["ts"] <= b for a, b in zip(starts, ends)):
            items.setdefault(e["args"]["epoch"], []).append(
                e["args"]["sample"])
    for epoch in range(1, epochs + 1):
        seen = items.get(epoch, [])
        g.equal(len(set(seen)), len(seen), "epoch %d: samples read twice"
                % epoch)
        g.check(all(0 <= s < total for s in seen), "samples that are none")
        if cap < 0:
            g.equal(len(seen), used, "epoch %d: samples read" % epoch)
            if used == total:
                g.equal(sorted(seen), list(range(total)), "all of them")
    g.equal(v["skipped_samples"], 0, "skipped")
    g.check(0 <= v["utilisation"] <= 1, "utilisation %r" % v["utilisation"])


def fuzz(tap):
    first = int(os.environ.get("PRONY_SEED", "0"))
    for seed in range(first, first + int(os.environ.get("PRONY_ROWS", "60"))):
        tap.row("anything", "PRONY_SEED=%d PRONY_ROWS=1" % seed, anything,
                seed)


def main():
    tap = Tap()
    for add in (counts, order_rows, reading, times, fuzz):
        add(tap)
    tap.finish()


main()
