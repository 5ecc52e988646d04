"""What the comparisons of file formats share: where programs and reference
files are, running them, counting, and what Python's libraries make of a file.

Runs under two interpreters: the system's, and the one of build/venv, which has
newer libraries, TensorFlow and PyTorch.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import traceback

try:
    import numpy as np
except ImportError:
    print("SKIP: no numpy; install python3-numpy")
    sys.exit(77)

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.environ.get("PRONY") or os.path.join(SRC, "build", "prony")
TOOLS = os.environ.get("TOOLS") or os.path.join(SRC, "build-check", "tests")
FORMAT_TOOL = os.path.join(TOOLS, "format_tool")
VENV = os.path.join(SRC, "build", "venv", "bin", "python")
SAMPLES = os.path.join(os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers"), "dlio", "samples")

DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
          "int64", "float16", "float32", "float64", "bool")
ENGINES = ("pread", "direct", "mmap", "io_uring")


# ---------------------------------------------------------------- counting


class Group:
    """Comparisons that make one line of TAP."""

    def __init__(self, name):
        self.name = name
        self.count = 0
        self.wrong = []
        self.skip = ""

    def check(self, good, text):
        self.count += 1
        if not good:
            self.wrong.append(text)
        return good

    def error(self, what, error):
        self.check(False, "%s: %s" % (what, "".join(
            traceback.format_exception_only(type(error), error)).strip()))

    def add(self, other):
        self.count += other.count
        self.wrong += other.wrong
        self.skip = self.skip or other.skip

    def as_json(self):
        return json.dumps(vars(self))

    @staticmethod
    def of_json(text):
        group = Group("")
        vars(group).update(json.loads(text))
        return group


class Tap:
    """Groups with the same name are one line."""

    def __init__(self):
        self.groups = {}

    def group(self, name):
        return self.groups.setdefault(name, Group(name))

    def add(self, group):
        self.group(group.name).add(group)

    def finish(self):
        failed = 0
        for n, g in enumerate(self.groups.values(), 1):
            if not g.count and not g.wrong:
                print("ok %d - %s # SKIP %s"
                      % (n, g.name, g.skip or "nothing to compare; see above"))
                continue
            print("%sok %d - %s (%d)" % ("not " if g.wrong else "", n, g.name,
                                         g.count))
            for text in g.wrong[:8]:
                print("    # " + text.replace("\n", "\n    # "))
            if len(g.wrong) > 8:
                print("    # and %d more" % (len(g.wrong) - 8))
            failed += bool(g.wrong)
        print("1..%d" % len(self.groups))
        sys.exit(1 if failed else 0)


# ------------------------------------------------------------- our programs


def prony(args, **more):
    """Exit status, stdout and stderr."""
    done = subprocess.run([PRONY] + args, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, check=False, **more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Refused(Exception):
    """Our reader ended with a status and a message."""

    def __init__(self, status, text):
        super().__init__("exit status %d: %s" % (status, text))
        self.status = status


class Sample:
    """What a reader gave: an array, and a label or None."""

    def __init__(self, array, label=None):
        self.array = array
        self.label = label


def array_of(meta, raw):
    """Our reader's bytes as the array that they are."""
    a = np.frombuffer(raw, dtype=np.dtype(meta["dtype"]))
    return a.reshape(meta["shape"], order="F" if meta["fortran"] else "C")


def read_raw(fmt, path, engine="pread", samples=0, dtype="uint8", flags=()):
    """Pairs (what is said about a sample, its bytes) in the order read."""
    fd, out = tempfile.mkstemp(prefix="prony-out-")
    os.close(fd)
    try:
        done = subprocess.run(
            [FORMAT_TOOL, fmt, engine, str(samples), dtype, path, out]
            + list(flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=60, check=False)
        if done.returncode:
            raise Refused(done.returncode, done.stderr.decode().strip())
        with open(out, "rb") as f:
            data = f.read()
    finally:
        os.unlink(out)
    pairs, at = [], 0
    for line in done.stdout.splitlines():
        meta = json.loads(line)
        pairs.append((meta, data[at:at + meta["size"]]))
        at += meta["size"]
    if at != len(data):
        raise Refused(0, "%d bytes too many" % (len(data) - at))
    return pairs


def read_ours(fmt, path, engine="pread", samples=0, dtype="uint8", flags=()):
    """The samples in their order in the file."""
    pairs = read_raw(fmt, path, engine, samples, dtype, flags)
    order = list(range(len(pairs)))
    if [m["i"] for m, _ in pairs] != (order[::-1] if "backward" in flags
                                      else order):
        raise Refused(0, "samples out of order")
    if "backward" in flags:
        pairs.reverse()
    return [Sample(array_of(m, raw), m["label"]) for m, raw in pairs]


# ----------------------------------------------------------------- comparing


def difference(want, got, fuzzy_label=False):
    """What is different in two samples, or ''. Compares bits: NaNs, too.
    With fuzzy_label a reader may leave a label out."""
    a, b = np.asarray(want.array), np.asarray(got.array)
    if a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return "type %s, want %s" % (b.dtype, a.dtype)
    if a.shape != b.shape:
        return "shape %s, want %s" % (b.shape, a.shape)
    if want.label != got.label and not fuzzy_label:
        return "label %s, want %s" % (got.label, want.label)
    a = np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("="))
    b = np.ascontiguousarray(b)
    if a.tobytes() == b.tobytes():
        return ""
    x, y = a.reshape(-1), b.reshape(-1)
    size = a.dtype.itemsize
    bits = (x.view("u%d" % size) != y.view("u%d" % size)).nonzero()[0]
    i = int(bits[0])
    return "element %d of %d is %r, want %r (%d differ)" % (
        i, x.size, y[i], x[i], len(bits))


def compare(group, what, want, got, fuzzy_label=False):
    if not group.check(len(want) == len(got), "%s: %d samples, want %d"
                       % (what, len(got), len(want))):
        return
    for i, (a, b) in enumerate(zip(want, got)):
        text = difference(a, b, fuzzy_label)
        group.check(not text, "%s: sample %d: %s" % (what, i, text))


# ------------------------------------------- what the libraries make of files


class Case:
    """A data set of ours, as far as reading it needs to know."""

    def __init__(self, **values):
        self.format = self.compression = self.dtype = self.labels = ""
        self.shape = []
        self.n = self.classes = 0
        self.sets = 1  # hdf5
        self.samples = None  # read already
        vars(self).update(values)


def npz_samples(path, case):
    with np.load(path, allow_pickle=False) as z:
        x = z["x"]
        y = z["y"] if "y" in z.files else [None] * case.n
    return array_samples(x, y, case)


def npy_samples(path, case):
    return array_samples(np.load(path, allow_pickle=False), [None] * case.n,
                         case)


def array_samples(x, y, case):
    if x.shape != tuple(case.shape) + (case.n,):
        raise ValueError("shape %s, want (%s, %d)" % (x.shape, case.shape,
                                                      case.n))
    if case.n > 1 and not x.flags.f_contiguous:
        raise ValueError("several samples, yet not in Fortran order")
    return [Sample(x[..., i], None if v is None else int(v))
            for i, v in enumerate(y)]


def hdf5_samples(path, case):
    import h5py
    with h5py.File(path, "r") as f:
        parts = [f["records_%d" % k][()] for k in range(case.sets)]
        if "records_%d" % case.sets in f:
            raise ValueError("more data sets than %d" % case.sets)
        y = f["labels"][()] if "labels" in f else [None] * case.n
        if not all(v is None for v in y) and y.dtype != np.int64:
            raise ValueError("labels are %s" % y.dtype)
    # The sample is cut along its first axis; one of length 1 is left out, and
    # a reader cannot know that it was there.
    want = [case.n] + list(case.shape)
    want[1] //= case.sets
    if case.sets > 1 and want[1] == 1:
        del want[1]
    for p in parts:
        if list(p.shape) != want:
            raise ValueError("shape %s, want %s" % (p.shape, want))
    return [Sample(np.concatenate([p[i] for p in parts]) if case.sets > 1
                   else np.asarray(parts[0][i]),
                   None if y[i] is None else int(y[i]))
            for i in range(case.n)]


def csv_rows(path, case):
    """Without pandas, which takes long for many columns."""
    with (gzip.open if case.compression == "gzip" else open)(path, "rb") as f:
        for line in f.read().splitlines():
            yield Sample(np.array(line.split(b",")).astype(case.dtype))


def csv_samples(path, case):
    import pandas
    kind = case.dtype
    if case.shape and np.prod(case.shape) > 1000:
        return list(csv_rows(path, case))
    table = pandas.read_csv(
        path, header=None, dtype="float64" if kind == "float16" else kind,
        float_precision="round_trip",
        compression="gzip" if case.compression == "gzip" else None)
    if table.shape[0] != case.n:
        raise ValueError("%d rows" % table.shape[0])
    return [Sample(row.astype(kind)) for row in table.to_numpy()]


def image_samples(path, _case):
    from PIL import Image
    with Image.open(path) as image:
        image.load()
        return [Sample(np.asarray(image))]


def indexed_samples(path, case):
    offsets = np.fromfile(path + ".off.idx", dtype="<u8")
    sizes = np.fromfile(path + ".sz.idx", dtype="<u8")
    data = np.fromfile(path, dtype="u1")
    if len(offsets) != case.n or len(sizes) != case.n:
        raise ValueError("%d offsets, %d sizes" % (len(offsets), len(sizes)))
    if int(sizes.sum()) != len(data):
        raise ValueError("the sizes are not those of the file")
    return [Sample(data[int(o):int(o + s)]) for o, s in zip(offsets, sizes)]


def synthetic_samples(path, _case):
    """The number of the file among all, those to train with first."""
    with open(path, encoding="ascii") as f:
        number = int(f.read())
    name = os.path.basename(path).split("_")
    others = len(os.listdir(os.path.join(
        os.path.dirname(path), "..", "train"))) \
        if "/valid/" in os.path.normpath(path) else 0
    if number != int(name[1]) + others:
        raise ValueError("holds %d" % number)
    return None


def tfrecord_samples(path, case):
    """Only where there is TensorFlow. Of one file, or of a list of them."""
    import tensorflow as tf
    kind = {"none": "", "gzip": "GZIP", "zlib": "ZLIB"}[case.compression]
    samples = []
    for record in tf.data.TFRecordDataset(path, compression_type=kind):
        example = tf.train.Example.FromString(record.numpy())
        names = example.features.feature
        data = names["image"].bytes_list.value[0]
        if list(names["size"].int64_list.value) != [len(data)]:
            raise ValueError("size is not that of image")
        label = None
        if "label" in names:
            label = names["label"].int64_list.value[0]
        samples.append(Sample(np.frombuffer(data, "u1"), label))
    return samples


READERS = {
    "npz": npz_samples,
    "npy": npy_samples,
    "hdf5": hdf5_samples,
    "csv": csv_samples,
    "jpeg": image_samples,
    "jpg": image_samples,
    "png": image_samples,
    "indexed_binary": indexed_samples,
    "mmap_indexed_binary": indexed_samples,
    "synthetic": synthetic_samples,
    "tfrecord": tfrecord_samples,
}

LIBRARY = {
    "npz": "numpy", "npy": "numpy", "hdf5": "h5py", "csv": "pandas",
    "jpeg": "PIL", "jpg": "PIL", "png": "PIL", "indexed_binary": "numpy",
    "mmap_indexed_binary": "numpy", "synthetic": "numpy",
    "tfrecord": "tensorflow",
}


def library(fmt):
    """'h5py 3.7.0', or '' when it is not there."""
    try:
        module = __import__(LIBRARY[fmt])
    except ImportError:
        return ""
    return "%s %s" % (LIBRARY[fmt], module.__version__)
