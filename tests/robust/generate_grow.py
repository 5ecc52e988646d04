"""A data set that gets more files: what is there is renamed, the rest is made,
and all of it is what would have been made at once, whenever the program is
killed meanwhile. The part with a small disk needs root."""

import json
import os
import random
import shutil
import signal
import subprocess
import time

from _robust import MANIFEST, Scratch, run, start, tree

KINDS = (("npz", {}), ("npz", {"compression": "zip"}), ("npy", {}),
         ("hdf5", {}), ("hdf5", {"compression": "gzip"}), ("tfrecord", {}),
         ("tfrecord", {"compression": "gzip"}), ("csv", {}), ("jpeg", {}),
         ("png", {}), ("indexed_binary", {}), ("mmap_indexed_binary", {}),
         ("synthetic", {}))
LAYOUTS = ({}, {"num_subfolders_train": 3, "labels": "separate"},
           {"record_length_bytes_stdev": 3000, "num_subfolders_eval": 2})


def parameters(folder, fmt, train, valid, **more):
    values = dict(format=fmt, data_folder=folder, num_files_train=train,
                  num_files_eval=valid, record_length_bytes=20000,
                  num_classes=7)
    values.update(more)
    return ["run.fsync=false"] + ["dataset.%s=%s" % row
                                  for row in values.items()]


def generate(t, what, args, status=0):
    code, out, err = run(["generate", "--format", "json"] + args)
    t.check(code == status, "%s: exit %d, want %d: %s"
            % (what, code, status, err))
    if status:
        return err
    return json.loads(out)["datasets"][0] if out else {}


def stamps(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            st = os.stat(os.path.join(at, name))
            found[os.path.join(at, name)] = (st.st_ino, st.st_mtime_ns)
    return found


def manifest(folder):
    try:
        with open(os.path.join(folder, MANIFEST), encoding="utf-8") as f:
            return json.load(f)
    except OSError:
        return {}


def has_format(fmt):
    _, _, err = run(["generate", "dataset.format=" + fmt,
                     "dataset.num_files_train=0", "storage.engine=null"])
    return "has no format" not in err


def kinds(t):
    """8, then 20, then 12: every format and layout."""
    number = 0
    for fmt, more in KINDS:
        if not has_format(fmt):
            print("SKIP: no %s in this build; see prony doctor" % fmt)
            continue
        for layout in LAYOUTS:
            number += 1
            what = "%s %s %s" % (fmt, more, layout)
            once, grown = t.path("once%d" % number), t.path("grown%d" % number)
            options = {**more, **layout}
            generate(t, what, parameters(once, fmt, 20, 3, **options))
            generate(t, what, parameters(grown, fmt, 8, 2, **options))
            before = {i for i, _ in stamps(grown).values()}
            one = generate(t, what, parameters(grown, fmt, 20, 3, **options)
                           + ["--verify"] + ["--resume"] * (number % 2))
            remade = 2 * (fmt == "synthetic"
                          or "record_length_bytes_stdev" in layout)
            t.check((one.get("made"), one.get("kept"), one.get("verified")) ==
                    (13 + remade, 10 - remade, 23), "%s: %s" % (what, one))
            t.check(tree(grown) == tree(once), "%s: not what is made at once: "
                    "%s" % (what, sorted(set(tree(grown).items())
                                         ^ set(tree(once).items()))[:4]))
            left = before & {i for i, _ in stamps(grown).values()}
            t.check(len(left) >= 8, "%s: files were made again" % what)
            # Fewer are asked for: those there are enough.
            before = stamps(grown)
            for option in ([], ["--resume"], ["--verify"]):
                one = generate(t, what, parameters(grown, fmt, 12, 1, **options)
                               + option)
                t.check(one.get("made") == 0, "%s: 12 of 20: %s" % (what, one))
            t.check(stamps(grown) == before, "%s: 12 of 20 touched files"
                    % what)
            shutil.rmtree(once)
            shutil.rmtree(grown)


def one_split(t):
    """One split grows while fewer of the other are asked for; from none."""
    folder, once = t.path("split"), t.path("split-once")
    generate(t, "split", parameters(folder, "npy", 4, 5))
    generate(t, "split", parameters(folder, "npy", 9, 2))
    generate(t, "split", parameters(once, "npy", 9, 5))
    t.check(tree(folder) == tree(once), "split: %s" % sorted(tree(folder)))
    generate(t, "split", parameters(folder, "npy", 0, 12))
    shutil.rmtree(once)
    generate(t, "split", parameters(once, "npy", 9, 12))
    t.check(tree(folder) == tree(once), "split: %s" % sorted(tree(folder)))
    # Something else differs, too: that is another set.
    before = stamps(folder)
    err = generate(t, "seed", parameters(folder, "npy", 99, 12, seed=5), 3)
    t.check("dataset.seed" in err, "seed: %s" % err)
    t.check(stamps(folder) == before, "another set was touched")


def damaged(t):
    """What is gone of a larger set is made when --resume says so."""
    folder = t.path("damaged")
    args = parameters(folder, "npy", 5, 0)
    generate(t, "damaged", parameters(folder, "npy", 11, 0))
    want = tree(folder)
    os.unlink(os.path.join(folder, "train", "img_03_of_11.npy"))
    err = generate(t, "gone", args, 5)
    t.check("img_03_of_11" in err, "gone: %s" % err)
    one = generate(t, "gone", args + ["--resume"])
    t.check(one.get("made") == 1 and tree(folder) == want, "gone: %s" % one)


def emulated(t):
    """Training with fewer files than there are takes the first of them."""
    folder = t.path("emulated")
    for count, want in ((16, 16), (8, 16), (24, 24)):
        code, out, err = run(
            ["run", "-o", t.path("run%d" % count), "exp.workload=emulate",
             "workflow.generate_data=true", "train.epochs=1",
             "storage.trace=" + t.path("trace%d" % count)]
            + parameters(folder, "npz", count, 0))
        t.check(code == 0, "emulate %d: exit %d: %s%s"
                % (count, code, out, err))
        with open(t.path("trace%d" % count), encoding="utf-8") as f:
            text = f.read()
        used = {"img_%02d_of_%d.npz" % (i, want) for i in range(want)
                if "img_%02d_of_%d.npz" % (i, want) in text}
        t.check(used == {"img_%02d_of_%d.npz" % (i, want)
                         for i in range(count)},
                "emulate %d: read %s" % (count, sorted(used)))


# ------------------------------------------------------------------- killed


def wait_for_growth(p, folder):
    while p.poll() is None and "growing_from" not in manifest(folder):
        pass


def count_names(folder):
    """How many different totals the names of training files have."""
    return len({n.split("_of_")[1].split(".")[0]
                for _, _, names in os.walk(os.path.join(folder, "train"))
                for n in names if "_of_" in n and n[0] != "."})


def killed(t, fmt, count, **more):
    """SIGKILL at any moment of the growth, asking for ever more or the same;
    the next call finishes it, also without --resume."""
    rng = random.Random(fmt)
    folder, once = t.path("killed-" + fmt), t.path("killed-once-" + fmt)
    size = 800
    i = kills = mixed = 0
    generate(t, fmt, parameters(folder, fmt, size, 3, **more))
    # A busy machine may let it finish first: again, then.
    while i < count or (i < 30 * count and (kills < count // 2 or not mixed)):
        if i % 4 != 3:
            size += rng.randrange(1, 300)
        p = start(["generate", "--threads", "2"]
                  + ["--resume"] * (i % 3 == 0)
                  + parameters(folder, fmt, size, 3, **more))
        wait_for_growth(p, folder)
        time.sleep(rng.choice((0, rng.uniform(0, 0.01), rng.uniform(0, 0.1))))
        p.kill()
        kills += p.wait() == -signal.SIGKILL
        p.communicate()
        mixed += count_names(folder) > 1
        i += 1
    t.check(kills >= count // 2, "%s: killed only %d times" % (fmt, kills))
    print("# %s: killed %d times, %d times between two names"
          % (fmt, kills, mixed))
    t.check(mixed > 0, "%s: never killed between two names" % fmt)
    size += 50
    generate(t, fmt, parameters(folder, fmt, size, 3, **more) + ["--verify"])
    generate(t, fmt, parameters(once, fmt, size, 3, **more))
    got, want = tree(folder), tree(once)
    t.check(got == want, "%s: not what an undisturbed run makes: %s" % (
        fmt, sorted(set(got.items()) ^ set(want.items()))[:4]))
    t.check(manifest(folder).get("complete") is True and
            "growing_from" not in manifest(folder), "%s: not complete" % fmt)
    shutil.rmtree(once)
    shutil.rmtree(folder)


def kills(t):
    small = {"record_length_bytes": 400}
    killed(t, "npy", 20, **small)
    killed(t, "tfrecord", 20, labels="separate", num_subfolders_train=7,
           **small)
    killed(t, "indexed_binary", 20, record_length_bytes_stdev=100, **small)


def forced(t):
    """--force in the middle of growth leaves no file under an older name."""
    folder = t.path("forced")
    for new in (900, 40):
        generate(t, "forced", parameters(folder, "npy", 600, 0)
                 + ["--force"])
        for _ in range(50):
            p = start(["generate"] + parameters(folder, "npy", 900, 0))
            wait_for_growth(p, folder)
            p.kill()
            p.communicate()
            if count_names(folder) > 1 or p.returncode == 0:
                break
        generate(t, "forced", parameters(folder, "npy", new, 0) + ["--force"])
        t.check(count_names(folder) == 1 and len(tree(folder)) == new,
                "forced: %d files, %d names" % (len(tree(folder)),
                                                count_names(folder)))


def small_disk(t):
    """Only what is missing needs room; without it nothing is renamed."""
    mount = t.path("small")
    os.mkdir(mount)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", mount],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        print("SKIP: small disk: no rights to mount; run it as root")
        return
    try:
        folder = os.path.join(mount, "data")
        more = {"record_length_bytes": 900000}
        generate(t, "disk", parameters(folder, "npy", 3, 0, **more))
        before = stamps(folder)
        err = generate(t, "disk", parameters(folder, "npy", 9, 0, **more), 5)
        t.check("missing" in err, "disk: %s" % err)
        t.check(stamps(folder) == before, "disk: something was touched")
        generate(t, "disk", parameters(folder, "npy", 4, 0, **more)
                 + ["--verify"])
        t.check(len(tree(folder)) == 4, "disk: %s" % sorted(tree(folder)))
    finally:
        subprocess.run(["umount", "-l", mount], check=False)


def main():
    t = Scratch()
    tests = (kinds, one_split, damaged, emulated, kills, forced, small_disk)
    for n, test in enumerate(tests, 1):
        before = t.failed
        test(t)
        print("%sok %d - %s" % ("" if t.failed == before else "not ", n,
                                test.__name__), flush=True)
    print("1..%d" % len(tests))
    t.finish("# data sets that grow")


main()
