"""Making data sets in a hostile world: the same bytes whatever happens, no
file that is not whole, and every fault found. The part with a full disk needs
root for a small file system of its own; skipped loudly without."""

import hashlib
import json
import os
import random
import signal
import subprocess
import time

from _robust import MANIFEST, Scratch, run, start, tree, wait_until

FORMATS = ("npz", "npy", "hdf5", "tfrecord", "csv", "jpeg", "png",
           "indexed_binary", "mmap_indexed_binary", "synthetic")
COMPRESSED = (("npz", "zip"), ("hdf5", "gzip"), ("hdf5", "lzf"),
              ("tfrecord", "gzip"), ("tfrecord", "zlib"), ("csv", "gzip"))


def parameters(folder, fmt, **more):
    """Arguments for a small data set."""
    values = dict(format=fmt, data_folder=folder, num_files_train=6,
                  num_files_eval=2, record_length_bytes=20000)
    values.update(more)
    return ["dataset.%s=%s" % row for row in values.items()]


def generate(t, what, args, status=0):
    code, out, err = run(["generate"] + args)
    t.check(code == status, "%s: exit %d, want %d: %s"
            % (what, code, status, err))
    return out, err


def sizes(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if name == MANIFEST:
                continue
            try:
                found[os.path.relpath(path, folder)] = os.path.getsize(path)
            except FileNotFoundError:
                pass  # it got its name between the list and the look
    return found


def is_part(name):
    return os.path.basename(name).startswith(".part-")


def complete(folder):
    with open(os.path.join(folder, MANIFEST), encoding="utf-8") as f:
        return json.load(f)["complete"]


def has_format(fmt):
    _, _, err = run(["generate", "dataset.format=" + fmt,
                     "dataset.num_files_train=0", "storage.engine=null"])
    return "has no format" not in err


# ------------------------------------------------------------------ contents


def same_bytes(t):
    """One thread or four, one engine or another; a seed decides."""
    kinds = [(f, "none") for f in FORMATS] + list(COMPRESSED)
    for fmt, compression in kinds:
        if not has_format(fmt):
            print("SKIP: no %s in this build; see prony doctor" % fmt)
            continue
        trees = []
        several = 1 if fmt in ("jpeg", "png") else 3
        for seed, threads, engine in ((5, 1, "pread"), (5, 4, "direct"),
                                      (5, 3, "io_uring"), (6, 2, "mmap")):
            folder = t.path("same", fmt, compression, str(len(trees)))
            generate(t, "%s %s" % (fmt, compression), parameters(
                folder, fmt, seed=seed, compression=compression,
                num_samples_per_file=several, num_classes=9)
                + ["--threads", str(threads), "storage.engine=" + engine])
            trees.append(tree(folder))
        t.check(trees[0] == trees[1] == trees[2],
                "%s %s: the threads or the engine changed the bytes"
                % (fmt, compression))
        t.check(len(trees[0]) >= 8, "%s: %d files" % (fmt, len(trees[0])))
        if fmt == "synthetic":
            continue
        data = [n for n in trees[0] if not n.endswith(".idx")]
        alike = [n for n in data if trees[3].get(n) == trees[0][n]]
        t.check(not alike, "%s %s: another seed, the same %s"
                % (fmt, compression, alike))
        t.check(len({trees[0][n] for n in data}) == len(data),
                "%s %s: two files are alike" % (fmt, compression))


def no_block_twice(t):
    """Otherwise storage that finds duplicates would look faster."""
    seen = set()
    blocks = 0
    for seed in (1, 2):
        folder = t.path("blocks", str(seed))
        generate(t, "blocks", parameters(
            folder, "npz", seed=seed, num_files_train=8, num_files_eval=2,
            record_length_bytes=4000000))
        for name in sorted(tree(folder)):
            with open(os.path.join(folder, name), "rb") as f:
                data = f.read()
            for at in range(0, len(data) - 4095, 4096):
                seen.add(hashlib.blake2b(data[at:at + 4096],
                                         digest_size=16).digest())
                blocks += 1
    t.check(blocks > 15000, "only %d blocks" % blocks)
    t.check(len(seen) == blocks, "%d of %d blocks are repeats"
            % (blocks - len(seen), blocks))
    subprocess.run(["rm", "-rf", t.path("blocks")], check=True)


# ------------------------------------------------------------- interruptions


def killed(t, fmt, count, **more):
    """SIGKILL at any moment; --resume until it is complete."""
    rng = random.Random(fmt)
    args = {"num_files_train": 40, "num_files_eval": 5,
            "record_length_bytes": 1000000, "num_classes": 3, **more}
    whole = t.path("whole", fmt)
    generate(t, fmt, parameters(whole, fmt, **args))
    want, want_sizes = tree(whole), sizes(whole)
    folder = t.path("killed", fmt)
    command = ["generate", "--threads", "3"] + parameters(folder, fmt, **args)
    # Not done before it can be killed, however fast the machine is.
    slow = ["storage.throttle=%d" % (sum(want_sizes.values()) // 3)]
    kills = 0
    for _ in range(count):
        p = start(command + slow)
        time.sleep(rng.uniform(0.001, 0.12))
        p.kill()
        kills += p.wait() == -signal.SIGKILL
        p.communicate()
        for name, size in sizes(folder).items():
            if not is_part(name):
                t.check(size == want_sizes.get(name),
                        "%s: %s has %s bytes after a kill, want %s"
                        % (fmt, name, size, want_sizes.get(name)))
        if os.path.exists(os.path.join(folder, MANIFEST)):
            command = command[:1] + ["--resume"] + [
                c for c in command[1:] if c != "--resume"]
    t.check(kills == count, "%s: killed only %d times" % (fmt, kills))
    if not os.path.exists(os.path.join(folder, MANIFEST)):
        command = [c for c in command if c != "--resume"]
    code, _, err = run(command)
    t.check(code == 0, "%s: resume: exit %d %s" % (fmt, code, err))
    got = tree(folder)
    parts = [n for n in got if is_part(n)]
    t.check(not parts, "%s: left behind: %s" % (fmt, parts[:4]))
    t.check(got == want, "%s: not what an undisturbed run makes: %s" % (
        fmt, sorted(set(got.items()) ^ set(want.items()))[:4]))
    t.check(complete(folder), "%s: not complete" % fmt)
    subprocess.run(["rm", "-rf", whole, folder], check=True)


def kills(t):
    killed(t, "npz", 12)
    killed(t, "tfrecord", 8, labels="separate", record_length_bytes=600000)
    killed(t, "indexed_binary", 8, record_length_bytes=600000)
    if has_format("hdf5"):
        killed(t, "hdf5", 8, compression="gzip", record_length_bytes=300000)


def ctrl_c(t):
    for signo, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        folder = t.path("signal-%d" % signo)
        args = parameters(folder, "npz", num_files_train=2000,
                          record_length_bytes=1000000)
        p = start(["generate", "storage.throttle=4MB"] + args)
        t.check(wait_until(lambda d=folder: any(
            not is_part(n) for n in sizes(d))), "start")
        began = time.monotonic()
        p.send_signal(signo)
        _, err = p.communicate(timeout=90)
        t.check(time.monotonic() - began < 60, "a signal took long")
        t.check(p.returncode == status, "signal %d: exit %d: %s"
                % (signo, p.returncode, err.decode()))
        t.check(b"--resume" in err, "no word on resuming: %s" % err)
        left = sizes(folder)
        t.check(not [n for n in left if is_part(n)], "left behind after a "
                "signal: %s" % [n for n in left if is_part(n)])
        t.check(not complete(folder), "says that it is complete")
        # Without --resume, what is there is not touched.
        _, err = generate(t, "unfinished", args, 3)
        t.check("--resume" in err, "no word on resuming: %s" % err)
        t.check(sizes(folder) == left, "an unfinished set was touched")


# ---------------------------------------------------------------- full disks


def small_disk(t):
    mount = t.path("small")
    os.mkdir(mount)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none",
                           mount], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0
    if not made:
        print("SKIP: small disk: no rights to mount; run it as root")
        return
    try:
        folder = os.path.join(mount, "data")
        args = parameters(folder, "npz", num_files_train=10,
                          record_length_bytes=1000000)
        _, err = generate(t, "too large", args, 5)
        t.check("missing" in err and "MB" in err, "not how much: %s" % err)
        t.check(not sizes(mount), "files in spite of no room: %s"
                % sizes(mount))
        # What is there already counts.
        args = parameters(folder, "npz", num_files_train=3, num_files_eval=0,
                          record_length_bytes=1000000)
        generate(t, "fits", args)
        os.unlink(os.path.join(folder, "train", "img_1_of_3.npz"))
        generate(t, "fits again", args + ["--resume", "--verify"])
        # Somebody else fills the disk meanwhile.
        folder = os.path.join(mount, "more")
        subprocess.run(["rm", "-rf", os.path.join(mount, "data")], check=True)
        args = parameters(folder, "npz", num_files_train=30, num_files_eval=0,
                          record_length_bytes=100000)
        p = start(["generate", "--threads", "1", "storage.throttle=2MB"]
                  + args)
        t.check(wait_until(lambda: len(sizes(folder)) > 2), "start")
        with open(os.path.join(mount, "filler"), "wb") as f:
            try:
                while True:
                    os.write(f.fileno(), b"x" * 4096)
            except OSError:
                pass
        _, err = p.communicate(timeout=60)
        t.check(p.returncode == 5, "filled meanwhile: exit %d %s"
                % (p.returncode, err.decode()))
        t.check(b"No space left" in err, "no reason: %s" % err.decode())
        check_whole(t, folder, 100)
        os.unlink(os.path.join(mount, "filler"))
        generate(t, "with room again", args + ["--resume", "--verify"])
        t.check(len(sizes(folder)) == 30, "%d files" % len(sizes(folder)))
    finally:
        subprocess.run(["umount", "-l", mount], check=False)


def check_whole(t, folder, least):
    """All files are alike in size, and none is a part."""
    found = sizes(folder)
    t.check(not [n for n in found if is_part(n)], "left behind: %s"
            % [n for n in found if is_part(n)])
    t.check(len(set(found.values())) <= 1 and
            all(s > least for s in found.values()), "sizes: %s" % found)


def faults(t):
    """Errors in the middle of a file: no part of it is left, and the rest can
    be made later."""
    for fault, word in (("enospc:write:7", "No space left"),
                        ("eio:write:4", "Input/output"),
                        ("enospc:open:5", "No space left")):
        for engine in ("pread", "direct"):
            folder = t.path("fault", fault.replace(":", "-"), engine)
            args = parameters(folder, "npz", record_length_bytes=3000000)
            _, err = generate(t, fault, args + [
                "--threads", "1", "storage.fault=" + fault,
                "storage.engine=" + engine], 5)
            t.check(word in err, "%s: no reason: %s" % (fault, err))
            check_whole(t, folder, 2000000)
            t.check(len(sizes(folder)) < 8, "%s: nothing failed" % fault)
            generate(t, "after " + fault, args + ["--resume", "--verify"])
            t.check(len(sizes(folder)) == 8, "after %s: %d files"
                    % (fault, len(sizes(folder))))


# -------------------------------------------------------------------- damage


def change_byte(path, at, how=0x40):
    with open(path, "r+b") as f:
        f.seek(at if at >= 0 else os.path.getsize(path) + at)
        byte = f.read(1)[0]
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([byte ^ how]))


def damaged(t):
    """--verify finds a changed byte, and names the file."""
    for fmt, compression in [(f, "none") for f in FORMATS] + list(COMPRESSED):
        if not has_format(fmt):
            continue
        folder = t.path("damaged", fmt, compression)
        args = parameters(folder, fmt, compression=compression)
        what = "%s %s" % (fmt, compression)
        generate(t, what, args)
        generate(t, what + " unhurt", args + ["--verify"])
        name = "img_3_of_6." + fmt
        path = os.path.join(folder, "train", name)
        size = os.path.getsize(path)
        change_byte(path, size // 2, 0x1 if fmt == "csv" else 0x40)
        _, err = generate(t, what + " damaged", args + ["--verify"], 5)
        t.check(name in err, "%s: the file is not named: %s" % (what, err))
        # Two are counted.
        os.truncate(os.path.join(folder, "valid", "img_1_of_2." + fmt),
                    0 if fmt == "synthetic" else 100)
        _, err = generate(t, what + " two", args + ["--verify"], 5)
        t.check("2 of 8" in err, "%s: not how many: %s" % (what, err))
    folder = t.path("damaged", "labels")
    args = parameters(folder, "npz", labels="separate", num_classes=1000)
    generate(t, "labels", args)
    path = os.path.join(folder, "labels", "valid", "img_0_of_2.npz.npy")
    change_byte(path, -7, 1)
    _, err = generate(t, "labels damaged", args + ["--verify"], 5)
    t.check("img_0_of_2" in err, "labels: the file is not named: %s" % err)


def repaired(t):
    """--resume makes files again that are gone or cut short, and those that
    are too long where a format has one length only."""
    exact = ("npz", "npy", "tfrecord", "indexed_binary",
             "mmap_indexed_binary", "synthetic")
    for fmt, more in (("npz", {}), ("npy", {"labels": "separate"}),
                      ("npz", {"compression": "zip"}), ("hdf5", {}),
                      ("hdf5", {"compression": "gzip"}), ("tfrecord", {}),
                      ("tfrecord", {"compression": "zlib"}), ("csv", {}),
                      ("csv", {"compression": "gzip"}), ("jpeg", {}),
                      ("png", {}), ("indexed_binary", {}),
                      ("mmap_indexed_binary", {}), ("synthetic", {})):
        if not has_format(fmt):
            continue
        what = "%s %s" % (fmt, more)
        folder = t.path("repaired", "%d" % len(os.listdir(t.path("repaired"))))
        args = parameters(folder, fmt, **more)
        generate(t, what, args)
        want = tree(folder)
        is_exact = fmt in exact and "compression" not in more
        # All that belongs to a file of its own: it, its indexes and labels.
        for name in sorted(want):
            path = os.path.join(folder, name)
            if "_1_of" in name:
                os.unlink(path)
            elif "_2_of" in name:
                os.truncate(path, os.path.getsize(path) - 1)
            elif "_3_of" in name:
                os.truncate(path, 0)
            elif "_5_of" in name and fmt != "synthetic":
                os.truncate(path, os.path.getsize(path) // 2)
            elif "_4_of" in name and is_exact and "/" not in \
                    os.path.dirname(name):
                with open(path, "ab") as f:
                    f.write(b"more")
        out, _ = generate(t, what, args + ["--resume", "--format", "json"])
        got = tree(folder)
        t.check(got == want, "%s: not repaired: %s" % (
            what, sorted(n for n in want if got.get(n) != want[n])))
        if out:
            one = json.loads(out)["datasets"][0]
            t.check(one["made"] == 4 + is_exact + (fmt != "synthetic"),
                    "%s: made %s, kept %s" % (what, one["made"], one["kept"]))
    # One of several files that belong together.
    for fmt, more, other in (
            ("indexed_binary", {}, "train/img_2_of_6.indexed_binary.sz.idx"),
            ("indexed_binary", {}, "train/img_2_of_6.indexed_binary.off.idx"),
            ("tfrecord", {}, "index/train/img_2_of_6.tfrecord.idx"),
            ("npy", {"labels": "separate"},
             "labels/train/img_2_of_6.npy.npy")):
        for cut in (None, 1):
            folder = t.path("repaired", "%d" % len(os.listdir(
                t.path("repaired"))))
            args = parameters(folder, fmt, **more)
            generate(t, other, args)
            want = tree(folder)
            path = os.path.join(folder, other)
            if cut:
                os.truncate(path, os.path.getsize(path) - cut)
            else:
                os.unlink(path)
            generate(t, other, args + ["--resume"])
            t.check(tree(folder) == want, "%s (%s): not repaired"
                    % (other, "cut short" if cut else "removed"))


# --------------------------------------------------------- what is there


def others(t):
    """Files of somebody else are not touched, nor those of another set."""
    folder = t.path("others", "foreign")
    for name in ("img_0_of_6.npz", "img_3_of_6.npz"):
        foreign = os.path.join(folder, "train", name)
        os.makedirs(os.path.dirname(foreign), exist_ok=True)
        with open(foreign, "w", encoding="utf-8") as f:
            f.write("precious")
        args = parameters(folder, "npz")
        before = tree(folder)
        _, err = generate(t, "foreign " + name, args, 3)
        t.check(name in err and "--force" in err, "foreign: %s" % err)
        _, err = generate(t, "foreign resume " + name, args + ["--resume"], 3)
        t.check(tree(folder) == before, "foreign %s was touched" % name)
        os.unlink(foreign)
    with open(os.path.join(folder, "train", "notes.txt"), "w",
              encoding="utf-8") as f:
        f.write("mine")
    generate(t, "beside other files", args)
    t.check(os.path.exists(os.path.join(folder, "train", "notes.txt")),
            "another file is gone")
    # Complete and the same: nothing happens.
    before = {n: os.stat(os.path.join(folder, n)).st_mtime_ns
              for n in sizes(folder)}
    out, _ = generate(t, "again", args)
    t.check("nothing was made" in out, "again: %s" % out)
    t.check(before == {n: os.stat(os.path.join(folder, n)).st_mtime_ns
                       for n in sizes(folder)}, "files were made again")
    for name, value in (("seed", 9), ("record_length_bytes", 30000),
                        ("num_subfolders_train", 3), ("compression", "zip"),
                        ("record_element_type", "int16"),
                        ("num_classes", 4), ("format", "npy")):
        other = parameters(folder, "npz", **{name: value})
        if name == "format":
            other = parameters(folder, "npy")
        for option in ([], ["--resume"]):
            _, err = generate(t, name, other + option, 3)
            t.check("dataset." + name in err, "%s is not named: %s"
                    % (name, err))
    t.check(not [n for n in sizes(folder) if n.endswith(".npy")], "made some")


def forced(t):
    """--force replaces a set, and takes away what it had besides."""
    folder = t.path("forced")
    notes = os.path.join(folder, "train", "notes.txt")
    generate(t, "old", parameters(folder, "tfrecord", num_files_train=12,
                                  num_subfolders_train=3, labels="separate"))
    with open(notes, "w", encoding="utf-8") as f:
        f.write("mine")
    generate(t, "new", parameters(folder, "indexed_binary",
                                  num_files_train=4) + ["--force"])
    left = set(sizes(folder))
    want = {"train/notes.txt"}
    for split, count in (("train", 4), ("valid", 2)):
        for i in range(count):
            for end in ("", ".off.idx", ".sz.idx"):
                want.add("%s/img_%d_of_%d.indexed_binary%s"
                         % (split, i, count, end))
    t.check(left == want, "after --force: %s" % sorted(left ^ want))
    # The same set again, from nothing.
    before = tree(folder)
    out, _ = generate(t, "again", parameters(
        folder, "indexed_binary", num_files_train=4)
        + ["--force", "--format", "json"])
    t.check(out and json.loads(out)["datasets"][0]["made"] == 6,
            "--force made nothing again: %s" % out)
    t.check(tree(folder) == before, "other bytes")
    _, err = generate(t, "both", parameters(folder, "npz")
                      + ["--force", "--resume"], 2)
    # A manifest that is damaged is no reason to guess.
    with open(os.path.join(folder, MANIFEST), "w", encoding="utf-8") as f:
        f.write('{"schema": "prony.dataset/1", "comp')
    args = parameters(folder, "indexed_binary", num_files_train=4)
    _, err = generate(t, "damaged manifest", args, 5)
    t.check(MANIFEST in err, "damaged manifest: %s" % err)
    generate(t, "forced", args + ["--force", "--verify"])


def main():
    t = Scratch()
    os.mkdir(t.path("repaired"))
    tests = (same_bytes, no_block_twice, kills, ctrl_c, small_disk, faults,
             damaged, repaired, others, forced)
    for n, test in enumerate(tests, 1):
        before = t.failed
        test(t)
        print("%sok %d - %s" % ("" if t.failed == before else "not ", n,
                                test.__name__), flush=True)
    print("1..%d" % len(tests))
    t.finish("# data sets in a hostile world")


main()
