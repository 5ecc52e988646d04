#!/usr/bin/python3
"""Compares our file formats with Python's libraries, value for value.

Usage: format_vs_python.py [FORMAT…]

Ours to theirs: `prony generate` makes data sets of every format, element type,
shape and compression; numpy, h5py, pandas, Pillow, TensorFlow and PyTorch read
them, and must find what our reader finds (format_tool in $TOOLS).
Theirs to ours: files that these libraries write, in all their variants, are
read by our readers with every storage engine, forward and backward.
DLIO's: files that DLIO itself wrote, from $PRONY_PEERS or ../shared/peers.

TensorFlow, PyTorch and newer versions of the others come from build/venv
("make python-deps"); what needs it is skipped without. One line of TAP for
each group of comparisons.
"""

import collections
import hashlib
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile

# First: it says so if there is no numpy.
from _formats import (DTYPES, ENGINES, FORMAT_TOOL, READERS, SAMPLES, VENV,
                      Case, Group, Refused, Sample, Tap, array_of, compare,
                      library, prony, read_ours, read_raw, tfrecord_samples)
from _format_files import LIBRARY_FILES, File, tfrecord_files

import numpy as np

SEED = 20240611

# ---------------------------------------------------------- ours to theirs

SHAPES = ([], [7], [3, 5], [2, 3, 4], [4, 3, 2, 2])
SIDE = 11  # of the square without dimensions
LENGTH = 131
LABELS = (("inside", 0), ("inside", 10), ("separate", 7), ("none", 0))
KINDS = (("npz", "none"), ("npz", "zip"), ("npy", "none"), ("hdf5", "none"),
         ("hdf5", "gzip"), ("hdf5", "lzf"), ("tfrecord", "none"),
         ("tfrecord", "gzip"), ("tfrecord", "zlib"), ("csv", "none"),
         ("csv", "gzip"), ("indexed_binary", "none"),
         ("mmap_indexed_binary", "none"))


class Batch:
    """Data sets that one `prony generate` makes: one for each type."""

    def __init__(self, number, fmt, compression, dims, n, labels, classes,
                 dtypes=DTYPES, shape=None, sets=1, extra=(), engine="pread"):
        self.number, self.format, self.compression = number, fmt, compression
        self.dims, self.n, self.labels, self.classes = dims, n, labels, classes
        self.dtypes, self.sets, self.extra = dtypes, sets, list(extra)
        self.shape = shape or dims or [SIDE, SIDE]
        self.engine = engine

    def group(self, what):
        return "%s%s of ours, read by %s" % (
            self.format, "" if self.compression == "none"
            else " " + self.compression, what)

    def case(self, dtype):
        return Case(format=self.format, compression=self.compression,
                    dtype=dtype, shape=self.shape, n=self.n,
                    labels=self.labels, classes=self.classes, sets=self.sets)

    def generate(self, root):
        args = ["generate", "--verify", "--threads", "2"]
        for name, value in (
                ("format", '"%s"' % self.format),
                ("compression", '"%s"' % self.compression),
                ("compression_level", 1 + self.number % 9),
                ("record_dims", self.dims),
                ("record_length_bytes", LENGTH),
                ("num_samples_per_file", self.n),
                ("num_files_train", 2), ("num_files_eval", 1),
                ("labels", '"%s"' % self.labels),
                ("num_classes", self.classes),
                ("data_folder", '"%s/${dataset.record_element_type}"' % root)):
            args += ["-P", "dataset.%s=%s" % (name, value)]
        # Nothing here outlives the test: no need to wait for the disk.
        args += ["-P", "run.fsync=false",
                 "-P", 'storage.engine="%s"' % self.engine]
        args += ["-V", "dataset.record_element_type=[%s]"
                 % ", ".join('"%s"' % d for d in self.dtypes)]
        return prony(args + self.extra)

    def files(self, root, dtype):
        """Paths of data files and of their labels."""
        for split, count in (("train", 2), ("valid", 1)):
            for i in range(count):
                name = "img_%d_of_%d.%s" % (i, count, self.format)
                yield (os.path.join(root, dtype, split, name),
                       os.path.join(root, dtype, "labels", split,
                                    name + ".npy"))


def batches(wanted):
    made = []

    def add(fmt, *args, **more):
        if fmt in wanted:
            number = len(made)
            made.append(Batch(number, fmt, *args,
                              engine=ENGINES[number % len(ENGINES)], **more))

    for fmt, compression in KINDS:
        for i, dims in enumerate(SHAPES):
            for j, n in enumerate((1, 4)):
                add(fmt, compression, dims, n, *LABELS[(i + 2 * j) % 4])
    for fmt in ("jpeg", "png", "jpg"):
        for i, dims in enumerate(([], [7, 13], [64, 1], [33, 50, 3])[
                :3 if fmt == "jpg" else 4]):
            add(fmt, "none", dims, 1, *LABELS[i], dtypes=("uint8",))
    add("png", "none", [9, 14, 4], 1, "inside", 0, dtypes=("uint8",))
    add("synthetic", "none", [], 1, "inside", 0, dtypes=("uint8",))
    some = ("uint8", "int16", "float32", "bool")
    for compression in ("none", "gzip", "lzf"):
        for i, (dims, n, sets, names) in enumerate((
                ([4, 6, 5], 3, 2, {}), ([3, 6, 5], 2, 3, {}),
                ([5, 7], 4, 1, {"hdf5.chunk_dims": [3, 2, 4]}),
                ([5, 7], 4, 1, {"hdf5.chunk_dims": [1, 5, 7]}),
                ([5, 7], 4, 1, {"hdf5.max_shape": [9, 9],
                                "hdf5.chunk_dims": [2, 5, 7]}),
                ([16, 16], 4, 1, {"enable_chunking": "true",
                                  "chunk_size": 100}),
                ([16, 16], 4, 1, {"enable_chunking": "true"}))):
            add("hdf5", compression, dims, n, *LABELS[i % 4], dtypes=some,
                sets=sets, extra=["dataset.%s=%s" % row
                                  for row in names.items()]
                + ["dataset.hdf5.num_dset_per_record=%d" % sets])
    # Larger than the pieces that content is made and written in.
    for fmt, compression in KINDS:
        add(fmt, compression, [401, 307], 3, "inside", 5,
            dtypes=("uint8", "float64"))
    for fmt in ("npz", "npy", "hdf5", "tfrecord", "jpeg", "png"):
        add(fmt, "none", [], 1, "inside", 0, dtypes=("uint8",), shape=None,
            extra=["dataset.record_length_bytes=4096",
                   "dataset.record_length_bytes_stdev=900"])
        if made and made[-1].format == fmt:
            made[-1].shape = "sides"
    return made


def side_pairs(length, stdev, files):
    """The sizes that DLIO draws."""
    draw = np.random.RandomState(10).normal(
        int(np.sqrt(length)), stdev / 2.0 / np.sqrt(length), 2 * files)
    sides = np.maximum(draw.astype(int), 1)
    return sides.reshape(-1, 2).tolist()


def check_labels(group, path, case, samples):
    """Labels that are apart are those of the file, below the limit."""
    if case.labels == "separate":
        y = np.load(path)
        group.check(y.shape == (case.n,) and y.dtype == np.int64,
                    "%s: %s %s" % (path, y.shape, y.dtype))
    else:
        group.check(not os.path.exists(path), path + " is there")
        y = np.array([s.label for s in samples if s.label is not None])
        if case.labels == "none":
            group.check(len(y) == 0, "%s: labels without being asked" % path)
    limit = max(case.classes, 1)
    group.check(all(0 <= v < limit for v in y), "%s: labels %s" % (path, y))


def run_batch(batch, root):
    """(groups, packed samples of each file, hashes of what samples hold)"""
    lib = library(batch.format)
    group = Group(batch.group(lib or "our own reader"))
    packed, hashes = [], {}
    root = os.path.join(root, "ours", str(batch.number))
    os.makedirs(root)
    status, _, err = batch.generate(root)
    if not group.check(status == 0 and not err, "generate %s: status %d, %s"
                       % (vars(batch), status, err)):
        return [group], packed, hashes
    sides = iter(side_pairs(4096, 900, 3))
    for k, dtype in enumerate(batch.dtypes):
        case = batch.case(dtype)
        for number, (path, label) in enumerate(batch.files(root, dtype)):
            if batch.shape == "sides":
                case.shape = next(sides)
            elif number and len(batch.dtypes) > 4 and (batch.number + k) % 3:
                continue  # --verify has read it
            what = "%s %s %s" % (dtype, case.shape, path)
            try:
                raw = read_raw(batch.format, path,
                               ENGINES[(batch.number + number) % 4], batch.n,
                               dtype)
                ours = [Sample(array_of(m, b), m["label"]) for m, b in raw]
                for i, (_, b) in enumerate(raw):
                    key = dtype, str(case.shape), number, i
                    hashes[key] = hashlib.sha1(b).hexdigest()
                check_labels(group, label, case, ours)
                packed.append((vars(case).copy(), path, raw))
                if lib:
                    theirs = READERS[batch.format](path, case)
                    compare(group, what, ours if theirs is None else theirs,
                            ours)
            except Exception as e:  # any of them is a finding
                group.error(what, e)
    return [group], packed, hashes


LOSSY = ("jpeg", "jpg", "png", "synthetic")  # or without an element type


def same_everywhere(tap, all_hashes):
    """The contents of a sample follow from seed, file, type and number: all
    formats hold the same."""
    group = tap.group("the same samples in all formats of ours")
    seen = {}
    for batch, hashes in all_hashes:
        if batch.format in LOSSY:
            continue
        for key, value in hashes.items():
            first = seen.setdefault(key, (batch.format, value))
            group.check(first[1] == value, "%s: %s and %s differ"
                        % (key, first[0], batch.format))
    values = collections.Counter((k[0], v) for k, (_, v) in seen.items())
    alike = [k for k, (_, v) in seen.items() if values[k[0], v] > 1
             and k[0] != "bool"]
    group.check(not alike, "samples that are alike: %s" % alike[:3])


# ------------------------------------------------------------ theirs to ours


def read_file(number, file):
    """Every engine forward and backward; where there are many files alike,
    all of that for some and three for the others, in turns."""
    group = Group(file.group)
    ways = [(engine, flags) for engine in ENGINES
            for flags in ((), ("backward",))]
    if number % 5:
        ways = [ways[(number + k) % 8] for k in (0, 3, 5)]
    for engine, flags in ways:
        what = "%s, %s %s" % (file.path, engine, " ".join(flags))
        try:
            ours = read_ours(file.format, file.path, engine, file.told,
                             file.dtype, flags)
        except Refused as e:
            group.check(file.want is None and e.status == 5,
                        "%s: %s" % (what, e))
            continue
        if group.check(file.want is not None, what + ": was not refused"):
            compare(group, what, file.want, ours)
    return group


def library_files(wanted, root):
    files = []
    for fmt, makers in LIBRARY_FILES:
        if fmt not in wanted:
            continue
        folder = os.path.join(root, "theirs", fmt)
        os.makedirs(folder)
        if not library(fmt):
            files.append((fmt, None))
            continue
        for maker in makers:
            rng = np.random.Generator(np.random.PCG64(SEED))
            files += [(fmt, f) for f in maker(folder, rng)]
    return files


# -------------------------------------------------------------------- DLIO's


def dlio_files(wanted):
    """Data files with the number of samples that their command says."""
    for name in sorted(os.listdir(SAMPLES)):
        if not name.endswith(".cmd.txt"):
            continue
        with open(os.path.join(SAMPLES, name), encoding="utf-8") as f:
            words = dict(w.split("=", 1) for w in f.read().split()
                         if "=" in w)
        get = {k.replace("++workload.dataset.", ""): v
               for k, v in words.items()}.get
        if get("format") not in wanted:
            continue
        folder = os.path.join(SAMPLES, name[:-len(".cmd.txt")])
        for at, _, names in sorted(os.walk(folder)):
            for one in sorted(names):
                if one.endswith("." + get("format")):
                    yield (name[:-8], get, os.path.join(at, one))


def dlio_want(get, path):
    """What the library reads, of any layout."""
    fmt, n = get("format"), int(get("num_samples_per_file", 1))
    if fmt in ("npz", "npy"):
        x = np.load(path)
        y = x["y"] if fmt == "npz" else [None] * n
        x = x["x"] if fmt == "npz" else x
        return [Sample(x[..., i], None if y[i] is None else int(y[i]))
                for i in range(n)]
    if fmt == "hdf5":
        import h5py
        with h5py.File(path, "r") as f:
            parts = [f[k][()] for k in sorted(f) if k.startswith("records_")]
            y = f["labels"][()]
        return [Sample(np.concatenate([p[i] for p in parts])
                       if len(parts) > 1 else parts[0][i], int(y[i]))
                for i in range(n)]
    case = Case(format=fmt, n=n, dtype="uint8",
                compression=get("compression", "none"))
    return READERS[fmt](path, case)


def check_dlio(row):
    number, (name, get, path) = row
    group = Group("DLIO's own files: " + name)
    fmt, n = get("format"), int(get("num_samples_per_file", 1))
    if not library(fmt):
        group.skip = "no library that reads it; \"make python-deps\""
        return group
    try:
        want = dlio_want(get, path)
        if want is None:
            ours = read_ours(fmt, path, samples=n)
            group.check(len(ours) == n, path)
        else:
            group.add(read_file(number, File(
                "", fmt, path, want, n, get("record_element_type", "uint8"))))
    except Exception as e:  # any of them is a finding
        group.error(path, e)
    return group


# ---------------------------------------------------------- the other Python


def child_main(root):
    """Runs in build/venv: writes TensorFlow's files, then, told that ours are
    there, reads them."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    packed = []
    try:
        import tensorflow as tf
        folder = os.path.join(root, "tensorflow")
        os.makedirs(folder)
        rng = np.random.Generator(np.random.PCG64(SEED))
        packed = [f.pack() for f in tfrecord_files(tf, folder, rng)]
    except ImportError:
        pass
    with open(os.path.join(root, "theirs.pickle"), "wb") as f:
        pickle.dump(packed, f)
    print("written", flush=True)
    if sys.stdin.readline().strip() != "read":
        return
    with open(os.path.join(root, "ours.pickle"), "rb") as f:
        ours = pickle.load(f)
    groups = collections.OrderedDict()
    cases = [(Case(**values), path, raw) for values, path, raw in ours]
    read_records(cases)
    for case, path, raw in cases:
        reread(groups, case, path, raw)
    try:
        torch_group(groups, ours)
    except ImportError:
        pass
    for group in groups.values():
        print(group.as_json(), flush=True)


def read_records(cases):
    """All TFRecord files of a compression at once: a data set of TensorFlow
    takes longer to make than to read."""
    if not library("tfrecord"):
        return
    for compression in ("none", "gzip", "zlib"):
        rows = [(c, p) for c, p, _ in cases if c.format == "tfrecord"
                and c.compression == compression]
        if not rows:
            continue
        records = iter(tfrecord_samples([p for _, p in rows], rows[0][0]))
        for case, _ in rows:
            case.samples = [s for _, s in zip(range(case.n), records)]
        rows[-1][0].samples += list(records)


def reread(groups, case, path, raw):
    lib = library(case.format)
    if not lib:
        return
    name = "%s%s of ours, read by %s" % (
        case.format, "" if case.compression == "none"
        else " " + case.compression, lib)
    group = groups.setdefault(name, Group(name))
    try:
        theirs = case.samples or READERS[case.format](path, case)
        ours = [Sample(array_of(m, b), m["label"]) for m, b in raw]
        compare(group, path, ours if theirs is None else theirs, ours)
    except Exception as e:  # any of them is a finding
        group.error(path, e)


def torch_group(groups, ours):
    """A DataLoader over our npz files, as users write it."""
    import torch

    class Files(torch.utils.data.Dataset):
        def __init__(self, rows):
            self.rows = rows

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, i):
            path, n = self.rows[i]
            with np.load(path) as z:
                return torch.from_numpy(z["x"][..., n])

    by_kind = {}
    for values, path, raw in ours:
        if values["format"] == "npz" and values["n"] > 1:
            kind = values["dtype"], str(values["shape"])
            by_kind.setdefault(kind, []).extend(
                (path, i, array_of(m, b)) for i, (m, b) in enumerate(raw))
    name = "npz of ours, read by torch %s" % torch.__version__
    for kind, rows in by_kind.items():
        group = groups.setdefault(name, Group(name))
        loader = torch.utils.data.DataLoader(
            Files([r[:2] for r in rows]), batch_size=5)
        got = np.concatenate([batch.numpy() for batch in loader])
        want = np.stack([r[2] for r in rows])
        group.check(got.dtype == want.dtype and got.shape == want.shape
                    and got.tobytes() == want.tobytes(),
                    "%s differs" % (kind,))


class Child:
    """The other Python, or nothing when it is not there."""

    def __init__(self, root):
        self.root = root
        self.process = None
        if os.path.exists(VENV):
            self.process = subprocess.Popen(
                [VENV, os.path.abspath(__file__), "--child", root],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)

    def files(self, tap):
        """TensorFlow's."""
        if self.process and self.process.stdout.readline() == "written\n":
            with open(os.path.join(self.root, "theirs.pickle"), "rb") as f:
                packed = pickle.load(f)
            if packed:
                return [File.unpack(p) for p in packed]
        tap.group("tfrecord by TensorFlow").skip = self.why()
        return []

    def why(self):
        if not self.process:
            return "no build/venv: make python-deps"
        return "no TensorFlow in build/venv"

    def read(self, tap, ours):
        """Lets it read ours; the groups it has made."""
        if not self.process:
            for name in ("tfrecord of ours, read by TensorFlow",
                         "npz of ours, read by torch",
                         "all formats of ours, read by newer libraries"):
                tap.group(name).skip = self.why()
            return
        with open(os.path.join(self.root, "ours.pickle"), "wb") as f:
            pickle.dump(ours, f)
        out, err = self.process.communicate("read\n", timeout=300)
        if self.process.returncode:
            tap.group("libraries in build/venv").check(
                False, "status %d: %s" % (self.process.returncode,
                                          err[-2000:]))
        for line in out.splitlines():
            tap.add(Group.of_json(line))


# ---------------------------------------------------------------------- main


def formats_here(names):
    """Those that this build has; the others are skipped."""
    here, missing = [], []
    for name in READERS:
        if names and name not in names:
            continue
        try:
            read_raw(name, "/dev/null/nothing")
            here.append(name)
        except Refused as e:
            (missing if "this build has no format" in str(e)
             else here).append(name)
    return here, missing


def call(job):
    """One piece of work of a process of the pool."""
    kind, args = job
    if kind == "ours":
        return "ours", args[0], run_batch(*args)
    if kind == "dlio":
        return "group", None, check_dlio(args)
    return "group", None, read_file(*args)


def main():
    names = sys.argv[1:]
    tap = Tap()
    here, missing = formats_here(names)
    for name in missing:
        tap.group("format " + name).skip = (
            "not in this build; install what prony doctor names")
    with tempfile.TemporaryDirectory(prefix="prony-formats-") as root:
        child = Child(root)
        jobs = [("ours", (batch, root)) for batch in batches(here)]
        for number, (fmt, file) in enumerate(library_files(here, root)):
            if file:
                jobs.append(("theirs", (number, file)))
            else:
                tap.group(fmt + " by its library").skip = (
                    "no such library; \"make python-deps\"")
        if os.path.isdir(SAMPLES):
            jobs += [("dlio", row) for row in enumerate(dlio_files(here))]
        else:
            tap.group("DLIO's own files").skip = (
                "no reference data of other tools; PRONY_PEERS=FOLDER says "
                "where they are")
        with multiprocessing.Pool(os.cpu_count()) as pool:
            packed, hashes = [], []
            for kind, batch, result in pool.imap(call, jobs, 4):
                if kind == "group":
                    tap.add(result)
                    continue
                for group in result[0]:
                    tap.add(group)
                packed += result[1]
                hashes.append((batch, result[2]))
            same_everywhere(tap, hashes)
            if "tfrecord" in here:
                jobs = [("theirs", row)
                        for row in enumerate(child.files(tap))]
                for _, _, group in pool.imap(call, jobs, 2):
                    tap.add(group)
            elif child.process:
                child.process.stdout.readline()
        child.read(tap, packed)
    tap.finish()


if len(sys.argv) == 3 and sys.argv[1] == "--child":
    child_main(sys.argv[2])
else:
    if not os.path.exists(FORMAT_TOOL):
        print("SKIP: no %s; run it by meson test" % FORMAT_TOOL)
        sys.exit(77)
    main()
