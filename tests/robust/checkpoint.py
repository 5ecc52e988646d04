"""Checkpoints in a hostile world: what has its final name is whole, whatever
happens to the program, the disk or the writes. The part with a full disk needs
root for a small file system of its own; skipped loudly without.

Usage: checkpoint.py [WORD…]     (only parts whose name holds one of them)
"""

import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

from _robust import Scratch, processes_with, run, start, wait_until

MODEL = ("model.type=transformer", "model.num_layers=3",
         "model.transformer.vocab_size=1000",
         "model.transformer.hidden_size=64",
         "model.transformer.ffn_hidden_size=100",
         "model.transformer.num_attention_heads=8",
         "model.transformer.num_kv_heads=2",
         "model.parallelism.data=4", "model.parallelism.zero_stage=3",
         "exp.workload=emulate", "emulate.framework=pytorch",
         "workflow.train=false", "workflow.checkpoint=true",
         "checkpoint.block_size=65536")
RANKS = 4
COUNT = 3  # checkpoints of a run
BYTES = 3100000  # about: one checkpoint on disk


def arguments(folder, write=COUNT, read=0, seed=1, more=()):
    return list(MODEL) + [
        "checkpoint.checkpoint_folder=" + folder,
        "checkpoint.num_checkpoints_write=%d" % write,
        "checkpoint.num_checkpoints_read=%d" % read,
        "checkpoint.seed=%d" % seed] + list(more)


class Runs:
    """Starts runs, each with a folder of its own."""

    def __init__(self, t):
        self.t = t
        self.count = 0

    def folder(self):
        self.count += 1
        return self.t.path("run%d" % self.count)

    def run(self, args, **more):
        """Status, the first experiment's result, what was said."""
        out = self.folder()
        code, text, err = run(["run", "-q", "-o", out] + args, **more)
        return code, result_of(out), text + err, out

    def ok(self, what, args):
        code, result, said, _ = self.run(args)
        self.t.check(code == 0, "%s: exit %d: %s" % (what, code, said))
        return result


def result_of(out):
    top = os.path.join(out, "experiments")
    for name in sorted(os.listdir(top)) if os.path.isdir(top) else ():
        path = os.path.join(top, name, "result.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                return json.load(f)
    return {}


def name_of(step):
    return "global_epoch1_step%d" % step


def hashes(folder):
    """Of the files of one checkpoint."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            found[name] = hashlib.sha256(f.read()).hexdigest()
    return found


def leftovers(folder):
    return [n for n in os.listdir(folder) if n.startswith(".")] if \
        os.path.isdir(folder) else []


class Known:
    """Checkpoints as they should be, of a few seeds."""

    def __init__(self, t, runs, seeds=(1, 2), steps=COUNT):
        self.t, self.runs, self.steps = t, runs, steps
        self.files = {}
        for seed in seeds:
            folder = self.folder(seed)
            runs.ok("known %d" % seed, arguments(folder, steps, seed=seed))
            for step in range(1, steps + 1):
                found = hashes(os.path.join(folder, name_of(step)))
                t.check(len(found) == 2 * RANKS,
                        "known: %d files" % len(found))
                self.files[seed, step] = found
        every = [h for f in self.files.values() for h in f.values()]
        t.check(len(set(every)) == len(every), "equal files in checkpoints")

    def folder(self, seed):
        return self.t.path("known%d" % seed)

    def seeds_of(self, what, folder):
        """The seed of each checkpoint that is there; a torn one fails."""
        found = []
        for step in range(1, self.steps + 1):
            path = os.path.join(folder, name_of(step))
            got = hashes(path) if os.path.isdir(path) else None
            seeds = [s for s, n in self.files if n == step
                     and self.files[s, n] == got]
            self.t.check(got is None or len(seeds) == 1,
                         "%s: checkpoint %d is torn" % (what, step))
            found.append(seeds[0] if seeds else None)
        return found

    def verified(self, what, folder, seeds):
        """The program's own comparison finds the same."""
        for seed in sorted(set(seeds)):
            look = self.t.path("look")
            shutil.rmtree(look, ignore_errors=True)
            for step, mine in enumerate(seeds, 1):
                shutil.copytree(os.path.join(
                    folder if mine == seed else self.folder(seed),
                    name_of(step)), os.path.join(look, name_of(step)))
            args = ["checkpoint.verify=true"]
            self.runs.ok("%s: verify seed %d" % (what, seed), arguments(
                look, 0, self.steps, seed, args))
        wrong = 3 - seeds[0]
        code, result, said, _ = self.runs.run(arguments(
            folder, 0, 1, wrong, ["checkpoint.verify=true"]))
        self.t.check(code == 1 and "byte" in result.get("reason", ""),
                     "%s: a wrong seed: exit %d: %s" % (what, code, said))


# --------------------------------------------------------------------- kills


def kill_all(t, marker):
    """Every process of a run at once; those that were just made, too."""
    def gone():
        found = processes_with(marker)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not found
    t.check(wait_until(gone), "processes are left")


def is_prefix(before, after, seed):
    """New ones in front, older ones behind."""
    n = 0
    while n < len(after) and after[n] == seed:
        n += 1
    return after[n:] == before[n:]


def kills(t, runs, known):
    folder = t.path("killed")
    runs.ok("before kills", arguments(folder, seed=1))
    dice = random.Random(20261115)
    before, mid, parts, old = [1] * COUNT, 0, 0, set()
    for i in range(25):
        seed = 2 - i % 2
        marker = "PRONY_TEST_MARK=%s-%d" % (t.dir.name, i)
        env = dict(os.environ, PRONY_TEST_MARK=marker.split("=")[1])
        p = start(["run", "-q", "-o", runs.folder()] + arguments(
            folder, seed=seed, more=["storage.throttle=12MB"]), env=env)
        # A run takes 0.8 s; moments beyond hit nothing.
        time.sleep(dice.uniform(0.02, 0.85))
        kill_all(t, marker)
        p.communicate(timeout=20)
        what = "kill %d" % i
        after = known.seeds_of(what, folder)
        t.check(None not in after, "%s: a checkpoint is missing: %s"
                % (what, after))
        t.check(is_prefix(before, after, seed), "%s: %s became %s by %d"
                % (what, before, after, seed))
        mid += 0 < sum(a == seed for a in after) < COUNT
        left = set(leftovers(folder))
        parts += bool(left)
        # Those of earlier kills stay until their names are written again.
        t.check(all(n.startswith(".part-global_epoch1_step") for n in left)
                and len(left - old) <= 1, "%s: left behind %s" % (what, left))
        before, old = after, left
        if i % 8 == 0:
            known.verified(what, folder, after)
    t.check(parts >= 8 and mid >= 5,
            "moments: %d left a part, %d in between" % (parts, mid))
    os.makedirs(os.path.join(folder, ".part-" + name_of(2), "deeper"))
    runs.ok("after kills", arguments(folder, seed=2))
    t.check(known.seeds_of("after kills", folder) == [2] * COUNT, "not new")
    t.check(not leftovers(folder), "not cleaned: %s" % leftovers(folder))
    print("25 kills: %d left a part, %d between checkpoints" % (parts, mid))


# ----------------------------------------------------------------- full disks


def small_disk(t, name, size):
    """A file system of its own; None where that is not allowed."""
    path = t.path(name)
    os.mkdir(path)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % size,
                           "none", path], stderr=subprocess.PIPE, check=False)
    return path if done.returncode == 0 else None


def no_space(t, runs, known):
    disk = small_disk(t, "disk", 5 * BYTES)
    if not disk:
        print("SKIP: a full disk: no rights to mount; run it as root")
        return
    try:
        full_disk(t, runs, known, os.path.join(disk, "c"), disk)
    finally:
        subprocess.run(["umount", disk], check=False)


def full_disk(t, runs, known, folder, disk):
    runs.ok("full: first", arguments(folder, 1, seed=1))
    # Seen before anything is written.
    code, _, said, _ = runs.run(arguments(folder, 9, seed=2))
    t.check(code == 5 and "9 checkpoints need" in said and "free" in said
            and "checkpoint.keep" in said,
            "full: 9 at once: exit %d: %s" % (code, said))
    # Those of the same names make room one by one.
    runs.ok("full: three", arguments(folder, seed=2))
    runs.ok("full: three again", arguments(folder, seed=1))
    for step in (2, 3):
        shutil.rmtree(os.path.join(folder, name_of(step)))
    # And when somebody else takes the room meanwhile.
    p = start(["run", "-q", "-o", runs.folder()] + arguments(
        folder, 2, seed=2, more=["storage.throttle=4MB"]))
    # The check is over, and little of the checkpoint is there.
    wait_until(lambda: leftovers(folder))
    ballast = os.path.join(disk, "ballast")
    try:
        with open(ballast, "wb", buffering=0) as f:
            while f.write(b"x" * 65536) == 65536:
                pass
    except OSError:
        pass
    out, err = p.communicate(timeout=60)
    said = (out + err).decode()
    result = result_of(runs.t.path("run%d" % runs.count))
    reason = result.get("reason", "")
    t.check(p.returncode == 1 and "No space left" in reason,
            "full: exit %d: %s %s" % (p.returncode, reason, said))
    t.check(reason in said, "full: the reason is not shown: " + said)
    got = known.seeds_of("full", folder)
    t.check(got[0] == 1, "full: the older one became %s" % got)
    t.check(not leftovers(folder), "full: left %s" % leftovers(folder))
    os.remove(ballast)
    runs.ok("full: room again", arguments(folder, 1, seed=2))
    t.check(known.seeds_of("full", folder)[0] == 2, "full: not replaced")
    t.check(not leftovers(folder), "full: left %s" % leftovers(folder))


# -------------------------------------------------------------- made-up faults


def faults(t, runs, known):
    rows = [("eio:write:%d" % n, "error") for n in range(1, 13)]
    rows += [("enospc:write:%d" % n, "space") for n in range(1, 13)]
    rows += [("%s:%s:%d" % (kind, what, n), "") for kind in ("eio", "enospc")
             for what, ns in (("sync", (1, 5)), ("commit", (1, 8)),
                              ("publish", (1, 2, 3)), ("open", (1, 3)))
             for n in ns if not (kind, what) == ("enospc", "open")]
    rows += [("eacces:open:1", "ermission")]
    for text, words in rows:
        fault(t, runs, known, text, words)


def fault(t, runs, known, text, words):
    folder = t.path("fault")
    shutil.rmtree(folder, ignore_errors=True)
    runs.ok("before " + text, arguments(folder, 2, seed=1))
    code, result, _, _ = runs.run(arguments(folder, 2, seed=2, more=[
        "storage.fault=" + text, "checkpoint.fsync=true"]))
    reason = result.get("reason", "")
    after = known.seeds_of(text, folder)[:2]
    if code == 0:
        # There are fewer calls than that.
        t.check(after == [2, 2] and text.endswith(":publish:3"),
                "%s: not seen, %s" % (text, after))
        return
    t.check(code == 1 and result.get("status") == "failed" and reason
            and words in reason, "%s: exit %d: %s" % (text, code, reason))
    t.check("global_epoch1_step" in reason or "checkpoint" in reason
            or "fault" in reason, "%s: no name in '%s'" % (text, reason))
    t.check(is_prefix([1, 1], after, 2), "%s: %s" % (text, after))
    t.check(not leftovers(folder), "%s: left %s" % (text, leftovers(folder)))


# -------------------------------------------------------------------- signals


def signals(t, runs, known):
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        for when in (0.1, 0.4, 0.7):
            signalled(t, runs, known, number, status, when)
    # While reading.
    signalled(t, runs, known, signal.SIGINT, 130, 2.0)


def signalled(t, runs, known, number, status, when):
    folder = t.path("signal")
    shutil.rmtree(folder, ignore_errors=True)
    runs.ok("before a signal", arguments(folder, seed=1))
    out = runs.folder()
    what = "signal %d after %.1f s" % (number, when)
    p = start(["run", "-q", "-o", out] + arguments(
        folder, read=COUNT, seed=2,
        more=["storage.throttle=6MB", "checkpoint.verify=true"]))
    time.sleep(when)
    p.send_signal(number)
    began = time.monotonic()
    said = b"".join(p.communicate(timeout=30)).decode()
    took = time.monotonic() - began
    t.check(p.returncode == status, "%s: exit %d: %s"
            % (what, p.returncode, said))
    t.check(took < 25, "%s: went on for %.1f s" % (what, took))
    t.check(not leftovers(folder), "%s: left %s" % (what, leftovers(folder)))
    after = known.seeds_of(what, folder)
    t.check(is_prefix([1] * COUNT, after, 2), "%s: %s" % (what, after))
    code, text, err = run(["run", "-q", "--resume", out])
    t.check(code == 0, "%s: resumed: exit %d: %s" % (what, code, text + err))
    t.check(known.seeds_of(what, folder) == [2] * COUNT, what + ": not whole")
    result = result_of(out)
    t.check(result.get("status") == "ok" and result["results"].get(
        "checkpoint_writes") == COUNT, what + ": no result")


# --------------------------------------------------------------------- memory


def memory(t, runs, _):
    """A rank of more than 3 GB is made while it is written."""
    large = ["model.transformer.hidden_size=2048", "model.num_layers=4",
             "model.transformer.vocab_size=32000",
             "model.transformer.ffn_hidden_size=8192",
             "model.transformer.num_attention_heads=32",
             "model.transformer.num_kv_heads=8", "model.parallelism.data=1",
             "checkpoint.block_size=1MiB", "storage.engine=null"]
    for layout in ("plain", "torch"):
        result = runs.ok("memory " + layout, arguments(
            t.path("large"), 1, 1, more=large + [
                "checkpoint.verify=false", "checkpoint.layout=" + layout]))
        values = result.get("results", {})
        t.check(values.get("checkpoint_bytes", 0) > 3e9,
                "memory: only %s bytes" % values.get("checkpoint_bytes"))
        t.check(values.get("checkpoint_ranks") == 1, "memory: ranks")
        t.check(values.get("max_rss_bytes", 1e12) < 200e6,
                "memory %s: %s bytes" % (layout, values.get("max_rss_bytes")))
    # Of all that this test started, in KiB.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    t.check(peak < 200e3, "memory: %d KiB" % peak)
    t.check(not os.path.exists(t.path("large")), "the null engine made files")


# --------------------------------------------------------------------- others


def shared(t, runs, known):
    """Two experiments of a plan write to one folder, one after the other."""
    folder = t.path("shared")
    out = runs.folder()
    args = arguments(folder, 2, 2, more=["checkpoint.verify=true"])
    code, text, err = run(["run", "-q", "-o", out, "-V",
                           "checkpoint.seed=[1, 2]"] + args)
    t.check(code == 0, "shared: exit %d: %s" % (code, text + err))
    # The later one replaced what the first had written.
    t.check(known.seeds_of("shared", folder)[:2] == [2, 2], "shared: torn")
    t.check(not leftovers(folder), "shared: left %s" % leftovers(folder))


def together(t, runs, known):
    """Two programs at once in one folder: an error or one of both, never a
    mixture."""
    folder = t.path("together")
    runs.ok("together: before", arguments(folder, seed=1))
    for i in range(4):
        both = [start(["run", "-q", "-o", runs.folder()] + arguments(
            folder, seed=seed, more=["storage.throttle=20MB"]))
            for seed in (1, 2)]
        said = [b"".join(p.communicate(timeout=60)).decode() for p in both]
        codes = [p.returncode for p in both]
        t.check(set(codes) <= {0, 1}, "together: exit %s: %s" % (codes, said))
        got = known.seeds_of("together %d, exit %s" % (i, codes), folder)
        t.check(None not in got, "together: %s is missing: %s" % (got, said))
        t.check(0 in codes, "together: neither went well: %s" % said)
        t.check("data sets are made by" not in "".join(said),
                "together: a wrong hint: %s" % said)
        t.check(codes == [0, 0] or folder in "".join(said),
                "together: it is not told where: %s" % said)
    runs.ok("together: after", arguments(folder, seed=1))
    t.check(known.seeds_of("together", folder) == [1] * COUNT, "together")
    t.check(not leftovers(folder), "together: left %s" % leftovers(folder))


def replaced(t, runs, known):
    """A checkpoint is read while the same one is written anew, which a reader
    does not notice."""
    folder = t.path("replaced")
    runs.ok("replaced: before", arguments(folder, seed=1))
    writer = start(["run", "-q", "-o", runs.folder()] + arguments(
        folder, seed=1, more=["storage.throttle=4MB"]))
    count = 0
    while writer.poll() is None:
        runs.ok("replaced: read", arguments(
            folder, 0, COUNT, 1, ["checkpoint.verify=true"]))
        count += 1
    said = b"".join(writer.communicate(timeout=20)).decode()
    t.check(writer.returncode == 0, "replaced: the writer: " + said)
    t.check(count >= 3, "replaced: only %d reads" % count)
    t.check(known.seeds_of("replaced", folder) == [1] * COUNT, "replaced")


def others(t, runs, _):
    """Reading what was written with other parameters says what is wrong."""
    folder = t.path("others")
    runs.ok("others", arguments(folder, 1))
    for more, words in (
            (["model.num_layers=4"], "bytes"),
            (["model.num_layers=2"], "bytes"),
            (["model.transformer.hidden_size=128"], "bytes"),
            (["checkpoint.layout=torch"], ""),
            (["model.optimizer_datatype=fp64"], "bytes"),
            (["model.parallelism.data=8"], ""),
            (["emulate.framework=tensorflow"], "")):
        code, result, said, _ = runs.run(arguments(folder, 0, 1, more=more))
        reason = result.get("reason", "")
        t.check(code == 1 and "global_epoch1_step1" in reason
                and words in reason, "others %s: exit %d: %s %s"
                % (more, code, reason, said))
        t.check("data sets are made by" not in reason, "others %s: the hint "
                "is on data sets: %s" % (more, reason))


def damaged(t, runs, known):
    """Each kind of damage to a file is found, and which file it is."""
    folder = t.path("damaged")
    victim = "zero_pp_rank_2_mp_rank_0_optim_states.pt"
    path = os.path.join(folder, name_of(1), victim)

    def flip(at):
        with open(path, "r+b") as f:
            f.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
            old = f.read(1)
            f.seek(-1, os.SEEK_CUR)
            f.write(bytes([old[0] ^ 1]))
    rows = (("first byte", lambda: flip(0)), ("header", lambda: flip(40)),
            ("tensor", lambda: flip(5000)), ("last byte", lambda: flip(-1)),
            ("short", lambda: os.truncate(path, os.path.getsize(path) - 1)),
            ("empty", lambda: os.truncate(path, 0)),
            ("long", lambda: os.truncate(path, os.path.getsize(path) + 1)),
            ("missing", lambda: os.remove(path)),
            ("a folder", lambda: (os.remove(path), os.mkdir(path))))
    for what, damage in rows:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(known.folder(1), folder)
        damage()
        code, result, said, _ = runs.run(arguments(
            folder, 0, COUNT, 1, ["checkpoint.verify=true"]))
        reason = result.get("reason", "")
        t.check(code == 1 and victim in reason, "damaged, %s: exit %d: %s %s"
                % (what, code, reason, said))


def engines(t, runs, _):
    """The same bytes by whatever writes them, in blocks of any size."""
    folder = t.path("engines")
    for layout in ("plain", "torch"):
        first = None
        for engine in ("pread", "direct", "io_uring", "mmap"):
            for block, writers in ((4096, 1), (5000, 3), (67108864, 0)):
                shutil.rmtree(folder, ignore_errors=True)
                what = "engine %s %s %d" % (engine, layout, block)
                runs.ok(what, arguments(folder, 1, 1, more=[
                    "checkpoint.engine=" + engine, "checkpoint.verify=true",
                    "checkpoint.layout=" + layout,
                    "checkpoint.block_size=%d" % block,
                    "checkpoint.writers=%d" % writers]))
                got = hashes(os.path.join(folder, name_of(1)))
                first = first or got
                t.check(got == first, what + ": other bytes")


# Memory first: what other parts take would count as well.
PARTS = (memory, engines, kills, no_space, faults, signals, shared, together,
         replaced, others, damaged)


def main():
    t = Scratch()
    runs = Runs(t)
    words = sys.argv[1:]
    known = Known(t, runs)
    for part in PARTS:
        if not words or any(w in part.__name__ for w in words):
            began = time.monotonic()
            part(t, runs, known)
            print("%s: %.1f s" % (part.__name__, time.monotonic() - began))
    t.finish("checkpoints: %d runs" % runs.count)


main()
