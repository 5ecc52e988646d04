#!/usr/bin/python3
"""Compares data sets that `prony generate` makes with those of DLIO, file by
file: names, and sizes where a format determines them.

Usage: generate_golden.py [NAME…]     (NAME: a folder of the samples)

DLIO's data sets are looked for in $PRONY_PEERS, else in ../shared/peers beside
the project ($SRC); each comes with the command that made it, whose overrides
work with our program as they stand. One line of TAP for each data set.

Where we differ from DLIO on purpose:

  csv       rows of random numbers: DLIO repeats one row, so that gzip makes
            half of it, and it never has 255
  jpeg      contents are compressed; within a tenth
  png       likewise; noise does not get smaller
  hdf5_chunk_gzip   likewise, a little
  npz_zip   DLIO does not compress, though it was asked to; we do
"""
import os
import sys
import tempfile

from _formats import SAMPLES, Tap, prony

# How far sizes may differ: bytes, and a part of the size. Not named: equal.
MAY_DIFFER = {
    "csv": (0, 0.05), "csv_gzip": (2048, 0), "jpeg": (0, 0.05),
    "png": (0, 0.02), "npz_zip": (100, 0), "hdf5_chunk_gzip": (100, 0),
}


def tree(folder):
    """Names in a folder and the sizes of what is there."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if not name.startswith("."):
                found[os.path.relpath(path, folder)] = os.path.getsize(path)
    return found


def overrides(name, files):
    """The words of DLIO's command, and the numbers of files that were its
    defaults."""
    with open(os.path.join(SAMPLES, name + ".cmd.txt"),
              encoding="utf-8") as f:
        words = [w for w in f.read().split() if w.startswith("++")]
    for split, what in (("train", "train"), ("valid", "eval")):
        key = "++workload.dataset.num_files_%s=" % what
        count = sum(n.startswith(split + "/") and not n.endswith(".idx")
                    for n in files)
        if not any(w.startswith(key) for w in words):
            words.append(key + str(count))
    return words


def check_sizes(group, name, want, got):
    more, part = MAY_DIFFER.get(name, (0, 0))
    for file in sorted(want):
        if file not in got:
            continue
        allowed = more + part * want[file]
        group.check(abs(want[file] - got[file]) <= allowed,
                    "%s has %d bytes, DLIO's %d" % (file, got[file],
                                                    want[file]))


def check(tap, name, scratch):
    group = tap.group("as DLIO's: " + name)
    want = tree(os.path.join(SAMPLES, name))
    folder = os.path.join(scratch, name)
    status, _, err = prony(["generate", "++workload.dataset.data_folder="
                            + folder] + overrides(name, want))
    if "has no format" in err:
        group.skip = "format not in this build; install what prony doctor names"
        return
    if not group.check(status == 0, "status %d: %s" % (status, err)):
        return
    got = tree(folder)
    for file in sorted(set(want) - set(got)):
        group.check(False, "%s is missing" % file)
    for file in sorted(set(got) - set(want)):
        group.check(False, "%s is there, too" % file)
    group.check(os.path.isdir(os.path.join(folder, "valid")), "no valid")
    check_sizes(group, name, want, got)


def main():
    if not os.path.isdir(SAMPLES):
        print("SKIP: no reference data of other tools; PRONY_PEERS=FOLDER "
              "says where they are")
        sys.exit(77)
    tap = Tap()
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="prony-golden-") as scratch:
        for name in sorted(os.listdir(SAMPLES)):
            if os.path.isdir(os.path.join(SAMPLES, name)) and (
                    not wanted or name in wanted):
                check(tap, name, scratch)
    tap.finish()


main()
