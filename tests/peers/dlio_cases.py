#!/usr/bin/python3
"""DLIO's own tests, replayed from the command line: its test programs and the
cases of its CI, those of generating, reading and training. Where DLIO starts
two processes, two accelerators are emulated. Times of computing are cut down;
what is checked is more than that files exist: steps, samples, lists, keys.

Usage: dlio_cases.py [WORD…]     (only rows whose name holds one of the words)

The files that DLIO wrote are looked for in $PRONY_PEERS, else in
../shared/peers beside the project ($SRC). One line of TAP for each test of
DLIO's. Where we differ from DLIO on purpose:

  steps      samples are dropped, not files: 17 files of one sample in batches
             of 4 for 2 accelerators are 2 steps, whatever is in a file
  tfrecord   with the tensorflow loader has "item" events in a trace, too
  csv        with pytorch, and every loader with every format, works
"""
import glob
import os
import re
import struct

from _emulate import DLIO, PEERS, SRC, Tap, Want, check, read_json, run

FORMATS = ("png", "npz", "jpeg", "tfrecord", "hdf5", "indexed_binary",
           "mmap_indexed_binary")
# Small, so that hundreds of them take seconds.
QUICK = ("train.computation_time=0.001", "evaluation.eval_time=0.001",
         "dataset.num_files_eval=8", "emulate.drop_cache=never")
TWO = "exp.accelerators=2"


def files(folder, fmt):
    return sorted(glob.glob(os.path.join(folder, "**", "*." + fmt),
                            recursive=True))


def missing(g, r, fmt):
    """Whether this build cannot do a format at all."""
    text = r.err + r.text()
    if "has no format" in text or "not in this build" in text:
        g.skip = "no %s in this build; see prony doctor" % fmt
        return True
    return False


# ---------------------------------------------------------------- generating


def gen_data(g, folder, fmt, framework):
    r = run(folder, "default", TWO, "workflow.train=False",
            "workflow.generate_data=True", "dataset.format=" + fmt,
            "dataset.num_files_train=8", "dataset.num_files_eval=8",
            "framework=" + framework)
    if missing(g, r, fmt) or not g.check(r.status == 0, r.why()):
        return
    data = os.path.join(folder, "data", "default")
    for split in ("train", "valid"):
        found = files(os.path.join(data, split), fmt)
        g.equal(len(found), 8, "files in " + split)
        below = {os.path.basename(os.path.dirname(p)) for p in found}
        g.equal(below, {"0", "1"}, "subfolders of " + split)
        g.equal(len([p for p in found if "_of_8." in p]), 8, "names")
    g.check(r.summary is None, "summary.json though nothing was trained")
    g.check(r.results.get("generated_bytes", 0) > 0, "generated_bytes")


def gen_root(g, folder, fmt):
    r = run(folder, "default", TWO, "workflow.train=False",
            "workflow.generate_data=True", "storage.storage_root=runs",
            "dataset.format=" + fmt, "dataset.num_files_train=16")
    if missing(g, r, fmt) or not g.check(r.status == 0, r.why()):
        return
    for split, count in (("train", 16), ("valid", 8)):
        found = glob.glob(os.path.join(folder, "runs", "data", "default",
                                       split, "*", "*." + fmt))
        g.equal(len(found), count, "files in " + split)
    g.check(not os.path.exists(os.path.join(folder, "data")), "other folder")


def generating(tap):
    for fmt in FORMATS:
        for framework in ("tensorflow", "pytorch"):
            tap.row("test_gen_data", fmt + " " + framework, gen_data, fmt,
                    framework)
        tap.row("test_storage_root_gen_data", fmt, gen_root, fmt)


# ------------------------------------------------------------------ training


def subset(g, folder):
    """More files than are used: the first ones are."""
    r = run(folder, "default", TWO, "workflow.train=False",
            "workflow.generate_data=True", "dataset.num_files_train=64",
            name="generate")
    g.check(r.status == 0, r.why())
    r = run(folder, "default", TWO, "workflow.generate_data=False",
            "dataset.num_files_train=8", "dataset.num_files_eval=8",
            "train.computation_time=0.01", "evaluation.eval_time=0.001",
            "train.epochs=2")
    check(g, r, Want(files=8, epochs=2))


def iostat(g, folder, device):
    more = ["profiling.iostat_devices=" + device] if device else []
    r = run(folder, "default", TWO, *QUICK, "workflow.generate_data=True",
            "workflow.profiling=True", "profiling.profiler=iostat",
            "train.epochs=1", "dataset.num_files_train=16",
            "train.computation_time=0.3", *more)
    if not check(g, r, Want()):
        return
    if not any(os.path.exists(d) for d in glob.glob("/sys/block/*")):
        g.skip = "no block devices here; run it on a disk"
        return
    stat = r.json("iostat.json")
    if not g.check(stat is not None, "no iostat.json: " + r.warnings):
        return
    host = stat["sysstat"]["hosts"][0]
    points = host["statistics"]
    g.check(points, "no points")
    for p in points:
        g.check({"user", "system", "iowait", "idle"} <= set(p["avg-cpu"]),
                "avg-cpu: %s" % list(p["avg-cpu"]))
        for d in p["disk"]:
            g.check({"disk_device", "r/s", "w/s", "rMB/s", "wMB/s", "r_await",
                     "w_await", "aqu-sz"} <= set(d), "disk: %s" % list(d))
        if device:
            g.equal([d["disk_device"] for d in p["disk"]],
                    device.strip("[]").split(","), "devices")


def evaluation(g, folder):
    r = run(folder, "default", TWO, *QUICK, "workflow.generate_data=True",
            "train.epochs=4", "workflow.evaluation=True",
            "dataset.num_files_train=16")
    if not check(g, r, Want(epochs=4)):
        return
    for stats in r.epochs:
        for epoch in stats.values():
            g.check(re.fullmatch(r"\d+\.\d\d", epoch["eval"]["duration"]),
                    "duration of eval")
            g.check(epoch["start"] <= epoch["eval"]["start"]
                    <= epoch["eval"]["end"], "times of eval")


def threads(g, folder, framework, count):
    r = run(folder, "default", TWO, *QUICK, "workflow.generate_data=True",
            "framework=" + framework, "reader.data_loader=" + framework,
            "train.epochs=1", "dataset.num_files_train=8",
            "reader.read_threads=%d" % count)
    check(g, r, Want(files=8))
    if r.status == 0 and count:
        g.equal(r.results["threads"], 2 * count, "threads")


def context(g, folder, count, kind):
    r = run(folder, "default", TWO, *QUICK, "workflow.generate_data=True",
            "framework=pytorch", "reader.data_loader=pytorch",
            "train.epochs=1", "dataset.num_files_train=8",
            "reader.read_threads=%d" % count,
            "reader.multiprocessing_context=" + kind)
    check(g, r, Want(files=8))


def train(g, folder, fmt, framework, loader, count):
    r = run(folder, "default", TWO, *QUICK, "workflow.generate_data=True",
            "framework=" + framework, "reader.data_loader=" + loader,
            "dataset.format=" + fmt, "train.epochs=1",
            "dataset.num_files_train=%d" % count, "reader.read_threads=1")
    if not missing(g, r, fmt):
        check(g, r, Want(files=count))
        read = r.results.get("bytes_read", 0)
        g.check((read == 0) == (fmt == "synthetic"), "%d bytes read" % read)


def uneven(g, folder, framework, count, batch):
    r = run(folder, "default", "exp.accelerators=3", *QUICK,
            "workflow.generate_data=True", "framework=" + framework,
            "reader.data_loader=" + framework, "dataset.format=npz",
            "train.epochs=3", "dataset.num_files_train=%d" % count,
            "reader.batch_size=%d" % batch)
    check(g, r, Want(files=count, batch=batch, accelerators=3, epochs=3))


def custom_root(g, folder, fmt, framework, root="root_dir"):
    if root.startswith("/"):
        root = folder + root
    r = run(folder, "default", TWO, *QUICK, "workflow.generate_data=True",
            "framework=" + framework, "reader.data_loader=" + framework,
            "dataset.format=" + fmt, "train.epochs=1",
            "dataset.num_files_train=16", "storage.storage_root=" + root)
    if missing(g, r, fmt) or not check(g, r, Want()):
        return
    found = files(os.path.join(folder, root, "data", "default", "train"), fmt)
    g.equal(len(found), 16, "files below storage_root")


def distribution(g, folder, kind, values, mean):
    """mean: what times are about on average, or None."""
    plain = [a for a in QUICK if "computation" not in a]
    r = run(folder, "default", TWO, *plain, "workflow.generate_data=True",
            "train.epochs=4", "dataset.num_files_train=64",
            *("train.computation_time%s" % v for v in values))
    zero = kind == "poisson"
    if not check(g, r, Want(files=64, epochs=4, compute=not zero)):
        return
    times = [t for o in r.outputs for e in range(4)
             for t in o[str(e + 1)]["compute"]["block1"]]
    g.equal(len(times), 64, "times")
    if mean is not None:
        # Late wake-ups only add.
        got = sum(times) / len(times)
        g.check(got > 0.5 * mean, "mean %g, want about %g" % (got, mean))
    different = len({round(t, 3) for t in times}) > 1
    if kind == "number":
        g.check(min(times) >= 0.002, "a step of %g s" % min(times))
    elif not zero:
        g.check(different, "times do not differ")
    shown = re.search(r"\(set value: (.*)\)$", r.text("dlio.log"), re.M)
    g.check(shown and shown[1].startswith("{"), "set value")


DISTRIBUTIONS = (
    ("uniform", (".type=uniform", ".min=0.002", ".max=0.010"), 0.006),
    ("normal", (".type=normal", ".mean=0.005", ".stdev=0.002"), 0.005),
    ("gamma", (".type=gamma", ".shape=2.0", ".scale=0.002"), 0.004),
    ("exponential", (".type=exponential", ".scale=0.004"), 0.004),
    ("poisson", (".type=poisson", ".lam=0.0001"), None),
    ("mean and stdev", (".mean=0.004", ".stdev=0.002"), 0.004),
    ("number", ("=0.002",), 0.002),
    ("number", (".mean=0.002",), 0.002),
    ("number and stdev", ("=0.004", "_stdev=0.002"), 0.004),
)


def training(tap):
    tap.row("test_subset", "", subset)
    tap.row("test_iostat_profiling", "", iostat, "")
    disks = sorted(d for d in os.listdir("/sys/block")
                   if not d.startswith(("loop", "ram", "zram"))) \
        if os.path.isdir("/sys/block") else []
    if disks:
        tap.row("test_iostat_profiling", "one", iostat, disks[0])
        tap.row("test_iostat_profiling", "list", iostat,
                "[%s]" % ",".join(disks[:2]))
    tap.row("test_eval", "", evaluation)
    for framework in ("tensorflow", "pytorch"):
        for count in (0, 1, 2):
            tap.row("test_multi_threads", "%s %d" % (framework, count),
                    threads, framework, count)
    for count, kind in ((0, "None"), (1, "fork"), (2, "spawn"),
                        (2, "forkserver")):
        tap.row("test_pytorch_multiprocessing_context", kind, context, count,
                kind)
    loaders = [("tensorflow", "tensorflow", FORMATS + ("csv", "synthetic")),
               ("pytorch", "pytorch", [f for f in FORMATS + ("csv",)
                                       if f != "tfrecord"]),
               ("pytorch", "dali", FORMATS + ("csv",)),
               ("tensorflow", "dali", FORMATS + ("csv",)),
               ("pytorch", "native_dali", FORMATS + ("csv", "npy")),
               ("tensorflow", "native_dali", FORMATS + ("csv", "npy"))]
    for framework, loader, formats in loaders:
        for fmt in formats:
            for count in (16, 17):
                tap.row("test_train", " ".join((
                    fmt, framework, loader, str(count))), train, fmt,
                    framework, loader, count)
    for framework in ("pytorch", "tensorflow"):
        for count, batch in ((13, 4), (24, 4), (25, 4), (145, 16)):
            tap.row("test_uneven_samples_deadlock", "%s %d/%d" % (
                framework, count, batch), uneven, framework, count, batch)
        for fmt in FORMATS + ("csv",):
            if (fmt, framework) != ("tfrecord", "pytorch"):
                tap.row("test_custom_storage_root_train", fmt + " "
                        + framework, custom_root, fmt, framework)
    for root in ("root_dir/", "./a/b", "/absolute", "/absolute/"):
        tap.row("test_custom_storage_root_train", root, custom_root, "npz",
                "pytorch", root)
    for kind, values, mean in DISTRIBUTIONS:
        tap.row("test_computation_time_distribution", " ".join(values),
                distribution, kind, values, mean)


# ---------------------------------------------------------------- dimensions


ELEMENTS = {"float32": 4, "int8": 1, "float16": 2}
SHAPES = ((9, 3), (4, 7, 2), (3, 2, 5, 6))


def product(numbers):
    n = 1
    for i in numbers:
        n *= i
    return n


def load_array(path, dims, dtype):
    import numpy as np
    x = np.load(path)
    if hasattr(x, "files"):
        x = x["x"]
    if x.shape != dims + (1,) or x.dtype != np.dtype(dtype):
        yield "%s %s" % (x.shape, x.dtype)


def load_hdf5(path, dims, dtype):
    import h5py
    with h5py.File(path, "r") as f:
        names = [n for n in f if n.startswith("records_")]
        parts = 3 if dims[0] % 3 == 0 else 1
        want = [1, dims[0] // parts] + list(dims[1:])
        if parts > 1 and want[1] == 1:
            del want[1]
        if len(names) != parts:
            yield "%d data sets" % len(names)
        for n in names:
            if list(f[n].shape) != want or str(f[n].dtype) != dtype:
                yield "%s: %s %s" % (n, f[n].shape, f[n].dtype)


def load_image(path, dims, _dtype):
    from PIL import Image
    with Image.open(path) as image:
        if image.size != (dims[1], dims[0]):
            yield "size %s" % (image.size,)


def load_tfrecord(path, dims, dtype):
    """Without TensorFlow: the only bytes of so much are the image's."""
    size = product(dims) * ELEMENTS[dtype]
    with open(path, "rb") as f:
        length, = struct.unpack("<Q", f.read(8))
        f.read(4)
        record = f.read(length)
    if not size < length < size + 64:
        yield "record of %d bytes for %d" % (length, size)
    if b"image" not in record or b"size" not in record:
        yield "names of features"


def load_indexed(path, dims, dtype):
    size = product(dims) * ELEMENTS[dtype]
    with open(path + ".off.idx", "rb") as f:
        offsets = struct.unpack("<Q", f.read())
    with open(path + ".sz.idx", "rb") as f:
        sizes = struct.unpack("<Q", f.read())
    if offsets != (0,) or sizes != (size,) or os.path.getsize(path) != size:
        yield "%s %s, want %d" % (offsets, sizes, size)


def load_csv(path, dims, _dtype):
    with open(path, encoding="ascii") as f:
        rows = f.read().splitlines()
    if len(rows) != 1 or rows[0].count(",") + 1 != product(dims):
        yield "%d rows, %d columns" % (len(rows), rows[0].count(",") + 1)


LOADERS = {"hdf5": (load_hdf5, "h5py"), "npz": (load_array, "numpy"),
           "npy": (load_array, "numpy"), "png": (load_image, "PIL"),
           "jpeg": (load_image, "PIL"), "tfrecord": (load_tfrecord, ""),
           "indexed_binary": (load_indexed, ""),
           "mmap_indexed_binary": (load_indexed, ""), "csv": (load_csv, "")}


def dimension(g, folder, fmt, dtype, dims, framework):
    image = fmt in ("png", "jpeg")
    data = os.path.join(folder, "somewhere")
    more = ["dataset.hdf5.num_dset_per_record=%d" % (
        3 if dims[0] % 3 == 0 else 1)] if fmt == "hdf5" else []
    out = os.path.join(folder, "output")
    r = run(folder, "default", TWO, *QUICK, "workflow.generate_data=True",
            "framework=" + framework, "reader.data_loader=" + framework,
            "dataset.format=" + fmt, "train.epochs=1",
            "dataset.num_files_train=16", "dataset.num_files_eval=8",
            "dataset.record_dims=[%s]" % ",".join(map(str, dims)),
            "dataset.record_element_type=" + dtype,
            "dataset.data_folder=" + data, "output.folder=" + out, *more)
    if missing(g, r, fmt):
        return
    if image and len(dims) > 2:
        g.check(r.status != 0, "an image of %d dimensions" % len(dims))
        want = "%s format does not support more than 2 dimensions, but got " \
            "%d dimensions" % (fmt, len(dims))
        g.check(want in r.err + r.text(), "not said: " + r.why())
        return
    if not check(g, r, Want()):
        return
    for name in ("summary.json", "0_output.json", "1_output.json",
                 "0_per_epoch_stats.json", "dlio.log"):
        g.check(os.path.exists(os.path.join(out, name)), "no " + name
                + " in output.folder")
    found = files(os.path.join(data, "train"), fmt)
    g.equal(len(found), 16, "files")
    load, needs = LOADERS[fmt]
    try:
        needs and __import__(needs)
    except ImportError:
        g.skip = "no %s; install it" % needs
        return
    for path in found:
        for wrong in load(path, dims, dtype):
            g.check(False, "%s: %s" % (os.path.basename(path), wrong))


def dimensions(tap):
    for fmt in LOADERS:
        frameworks = ["tensorflow"] if fmt == "tfrecord" else [
            "tensorflow", "pytorch"]
        for dtype in ELEMENTS:
            for dims in SHAPES:
                for framework in frameworks:
                    tap.row("test_%s_dimension" % fmt, "%s %s %s" % (
                        dtype, dims, framework), dimension, fmt, dtype, dims,
                        framework)


# -------------------------------------------------------------------- traces


def counts(r, accelerator):
    found = {}
    for e in r.events(pid=accelerator):
        key = e["cat"] + "/" + e["name"]
        found[key] = found.get(key, 0) + 1
    return found


def trace(g, folder, framework, fmt, w, *args, variable=False):
    r = run(folder, "default", "exp.accelerators=%d" % w.accelerators, *QUICK,
            "workflow.generate_data=True", "framework=" + framework,
            "reader.data_loader=" + framework, "dataset.format=" + fmt,
            "train.epochs=%d" % w.epochs,
            "workflow.evaluation=%s" % w.evaluation, *args,
            *([] if variable else ["emulate.trace=true"]),
            env={"DFTRACER_ENABLE": "1"} if variable else None)
    if missing(g, r, fmt) or not check(g, r, w):
        return
    if not g.check(r.json("trace.json") is not None, "no trace.json"):
        return
    # As DLIO's tests read it: line by line.
    for line in r.text("trace.json").splitlines():
        if "[" in line or "]" in line:
            g.check(line in ("[", "]"), "bracket in an event: " + line)
    steps = (w.steps + w.eval_steps) * w.epochs
    samples = (w.steps * w.batch + w.eval_steps * w.batch_eval) * w.epochs
    for a in range(w.accelerators):
        got = counts(r, a)
        want = {"ai_root/ai_root": 1, "pipeline/epoch.block": w.epochs,
                "pipeline/train": w.epochs,
                "pipeline/evaluate": w.epochs if w.evaluation else 0,
                "dataloader/fetch.iter": steps, "compute/compute": steps}
        for name, n in want.items():
            g.equal(got.get(name, 0), n, "accelerator %d: %s" % (a, name))
        if fmt == "synthetic":
            g.equal(got.get("data/preprocess", 0), 0, "preprocess")
        else:
            g.equal(got.get("data/item", 0), samples, "item")


def traces(tap):
    for framework, accelerators, epochs, files_, batch in (
            ("pytorch", 2, 1, 16, 4), ("pytorch", 2, 2, 17, 4),
            ("pytorch", 1, 3, 9, 2), ("pytorch", 3, 1, 25, 4),
            ("tensorflow", 2, 1, 16, 4), ("tensorflow", 2, 2, 17, 4),
            ("tensorflow", 1, 3, 9, 2), ("tensorflow", 3, 1, 25, 4)):
        base = dict(files=files_, batch=batch, accelerators=accelerators,
                    epochs=epochs)
        args = ("dataset.num_files_train=%d" % files_,
                "reader.batch_size=%d" % batch)
        what = "%s %d/%d/%d/%d" % (framework, accelerators, epochs, files_,
                                   batch)
        tap.row("test_ai_logging_train", what, trace, framework, "npz",
                Want(evaluation=False, **base), *args)
        tap.row("test_ai_logging_train_with_step", what, trace, framework,
                "npz", Want(evaluation=False, steps=1, **base),
                "train.total_training_steps=1", *args)
    for framework in ("pytorch", "tensorflow"):
        tap.row("test_ai_logging_with_eval", framework, trace, framework,
                "npz", Want(epochs=2), "dataset.num_files_train=16")
        for fmt in FORMATS + ("csv", "npy", "synthetic"):
            if (fmt, framework) != ("tfrecord", "pytorch"):
                tap.row("test_ai_logging_with_reader", framework + " " + fmt,
                        trace, framework, fmt, Want(evaluation=False),
                        "dataset.num_files_train=16")
    tap.row("test_ai_logging_train", "DFTRACER_ENABLE", variable)


def variable(g, folder):
    trace(g, folder, "pytorch", "npz", Want(evaluation=False),
          "dataset.num_files_train=16", variable=True)


# ---------------------------------------------------- the cases of DLIO's CI


def shell(g, folder, name, w, *args):
    r = run(folder, name, *args, "workflow.generate_data=True", TWO)
    check(g, r, w)


def two_steps(g, folder, name, w, *args):
    """Data made by one command, training by another."""
    r = run(folder, name, *args, TWO, "workflow.generate_data=True",
            "workflow.train=False", name="generate")
    if g.check(r.status == 0, r.why()):
        check(g, run(folder, name, *args, TWO,
                     "workflow.generate_data=False"), w)


def shells(tap):
    name = "CI"
    quick = ("train.computation_time=0.005", "train.epochs=1")
    unet = quick + ("dataset.num_files_train=16",
                    "dataset.record_length_bytes=40000",
                    "dataset.record_length_bytes_stdev=9000",
                    "dataset.record_length_bytes_resize=0")
    w7 = Want(files=16, batch=7, evaluation=False)
    tap.row(name, "resnet50_tf", shell, "resnet50_tf",
            Want(files=4, per_file=16, batch=4, evaluation=False), *quick,
            "dataset.num_files_train=4", "dataset.num_samples_per_file=16",
            "reader.batch_size=4")
    for more in (("reader.read_threads=0",), ("reader.read_threads=2",),
                 ("reader.odirect=True", "dataset.format=npy"),
                 ("reader.odirect=True",),
                 # The section's older name replaces the other, and with it
                 # the size of batches.
                 ("framework=tensorflow", "data_reader.data_loader=tensorflow",
                  "data_reader.batch_size=7"),
                 ("dataset.format=synthetic", "reader.data_loader=synthetic")):
        tap.row(name, "unet3d_a100 " + more[0], shell, "unet3d_a100", w7,
                *unet, *more)
        tap.row(name, "unet3d_a100 apart " + more[0], two_steps,
                "unet3d_a100", w7, *unet, *more)
    tap.row(name, "resnet50_h100", two_steps, "resnet50_h100",
            Want(files=4, per_file=100, batch=40, evaluation=False), *quick,
            "dataset.num_files_train=4", "dataset.num_samples_per_file=100",
            "reader.batch_size=40", "dataset.record_length_bytes=4000")
    tap.row(name, "resnet50_h100 synthetic", two_steps, "resnet50_h100",
            Want(files=4, per_file=100, batch=40, evaluation=False), *quick,
            "dataset.num_files_train=4", "dataset.num_samples_per_file=100",
            "reader.batch_size=40", "dataset.format=synthetic",
            "reader.data_loader=synthetic")
    for more in ((), ("dataset.format=synthetic",)):
        tap.row(name, "cosmoflow_h100 " + " ".join(more), two_steps,
                "cosmoflow_h100", Want(batch=1, evaluation=False), *quick,
                "dataset.num_files_train=16",
                "dataset.record_length_bytes=30000",
                "dataset.record_length_bytes_stdev=700", *more)


# ---------------------------------------------------------- files of workloads


def small(path):
    """Overrides that make a workload fit, and what it comes to."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    args = ["train.computation_time=0.002", "train.epochs=1",
            "workflow.generate_data=True", "dataset.record_length_bytes=4096",
            "dataset.record_length_bytes_stdev=0",
            "train.total_training_steps=3"]
    per = 32 if re.search(r"samples_per_file: *\d\d", text) else 1
    batch = int(re.search(r"batch_size: *(\d+)", text)[1]) if \
        "batch_size" in text else 1
    if per > 1:
        batch = min(batch, 16)
        args.append("reader.batch_size=%d" % batch)
    count = max(4, 3 * 2 * batch // per + 1)
    args += ["dataset.num_files_train=%d" % count,
             "dataset.num_samples_per_file=%d" % per]
    evaluation = bool(re.search(r"^ *evaluation: *(True|true)", text, re.M))
    if evaluation:
        args += ["evaluation.eval_time=0.001", "dataset.num_files_eval=8"]
    return args, Want(files=count, per_file=per, batch=batch, steps=3,
                      evaluation=evaluation)


SMALL_MODEL = ["model.num_layers=2", "model.parallelism.tensor=1",
               "model.parallelism.pipeline=1", "model.parallelism.data=2",
               "model.transformer.hidden_size=64",
               "model.transformer.ffn_hidden_size=128",
               "model.transformer.vocab_size=500",
               "model.transformer.num_attention_heads=4",
               "model.transformer.num_kv_heads=2",
               "checkpoint.time_between_checkpoints=0"]


def workload(g, folder, path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    name = os.path.basename(path)
    if name.startswith("llama") and re.search(r"^ *train: *[Ff]alse", text,
                                              re.M):
        r = run(folder, path, *SMALL_MODEL,
                "checkpoint.num_checkpoints_write=2",
                "checkpoint.num_checkpoints_read=2", "checkpoint.verify=true",
                "checkpoint.checkpoint_folder=ck")
        g.check(r.status == 0, r.why())
        g.equal(r.results.get("checkpoint_writes"), 2, "written")
        g.equal(r.results.get("checkpoint_reads"), 2, "read")
        g.equal(sorted(os.listdir(os.path.join(folder, "ck"))),
                ["global_epoch1_step1", "global_epoch1_step2"], "folders")
        g.check("load_checkpoint_duration_mean_seconds"
                in r.summary["metric"], "summary: %s" % r.summary["metric"])
        return
    if re.search(r"storage_type: *s3", text):
        r = run(folder, path, *small(path)[0])
        g.check(r.status != 0, "s3 went well")
        said = r.err + r.out + r.result.get("reason", "") + r.text()
        g.check("object storage" in said and "later" in said, "said: " + said)
        g.check(not os.path.exists(os.path.join(folder, "data")), "made data")
        return
    args, w = small(path)
    if name.endswith("_datagen.yaml"):
        r = run(folder, path, *args, TWO)
        g.check(r.status == 0, r.why())
        g.check(r.results.get("generated_bytes", 0) > 0, "generated nothing")
        g.check(r.summary is None, "trained")
        return
    saves = bool(re.search(r"^ *checkpoint: *[Tt]rue", text, re.M))
    if saves:
        args += SMALL_MODEL + ["model.layer_parameters=[]",
                               "model.optimization_groups=[]",
                               "model.model_size_bytes=1000",
                               "checkpoint.checkpoint_folder=ck",
                               "checkpoint.checkpoint_after_epoch=1",
                               "checkpoint.steps_between_checkpoints=-1"]
    r = run(folder, path, *args, TWO)
    check(g, r, w)
    if saves:
        g.check(r.results.get("checkpoint_writes", 0) > 0, "wrote none")
        g.check(os.listdir(os.path.join(folder, "ck")), "no folder")


def workloads(tap):
    for folder in ("dlio/workload", "mlperf_storage"):
        for path in sorted(glob.glob(os.path.join(PEERS, folder, "*.yaml"))):
            tap.row("runs: " + folder, os.path.basename(path), workload, path)
    for path in sorted(glob.glob(os.path.join(SRC, "workloads", "*.yaml"))):
        if os.path.basename(path) not in ("demo.yaml", "null.yaml"):
            tap.row("runs: bundled", os.path.basename(path), workload, path)


# ---------------------------------------------------------------------- keys


EVAL_KEYS = [
    "eval_au_percentage", "eval_au_mean_percentage",
    "eval_au_meet_expectation", "eval_au_stdev_percentage",
    "eval_throughput_samples_per_second",
    "eval_throughput_mean_samples_per_second",
    "eval_throughput_stdev_samples_per_second",
    "eval_io_mean_MB_per_second", "eval_io_stdev_MB_per_second"]


def alike(g, what, want, got):
    """The same keys in the same order, and values of the same kind."""
    g.equal(list(got), list(want), what + ": keys")
    for key in want:
        a, b = want[key], got.get(key)
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            continue
        g.check(type(a) is type(b), "%s: %s is %r, DLIO's %r" % (
            what, key, b, a))
        if isinstance(a, list) and a and b:
            g.equal(isinstance(b[0], (int, float)),
                    isinstance(a[0], (int, float)), key)


STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}"


def keys(g, folder, real, evaluated):
    real = os.path.join(DLIO, "results", real)
    summary = read_json(os.path.join(real, "summary.json"))
    r = run(folder, "default", "workflow.generate_data=True", *QUICK,
            "workflow.evaluation=%s" % evaluated,
            "train.epochs=%d" % summary["epochs"],
            "dataset.num_files_train=32", "exp.accelerators=1")
    if not check(g, r, Want(files=32, epochs=summary["epochs"],
                            accelerators=1, evaluation=evaluated)):
        return
    ours = dict(r.summary)
    g.equal(list(ours)[-1], "prony", "the last key")
    ours.pop("prony", None)
    want = dict(summary)
    if evaluated:
        want["metric"] = dict(summary["metric"])
        for key in EVAL_KEYS:
            want["metric"][key] = summary["metric"].get(
                key.replace("eval", "train"))
    alike(g, "summary", want, ours)
    alike(g, "metric", want["metric"], ours["metric"])
    for key in ("start", "end"):
        g.check(re.fullmatch(STAMP, ours[key]), "%s %s" % (key, ours[key]))
    output = read_json(os.path.join(real, "0_output.json"))
    alike(g, "output", output, r.outputs[0])
    alike(g, "output epoch", output["1"], r.outputs[0]["1"])
    for key in ("load", "proc", "compute", "throughput", "au"):
        want = list(output["1"][key]) + (["eval"] if evaluated else [])
        g.equal(list(r.outputs[0]["1"][key]), want, "output " + key)
    # Those of the machine are its own; most are everywhere.
    for key in ("host_cpuinfo", "host_meminfo"):
        g.check("processor" not in r.outputs[0][key], "processor")
        g.check(all(isinstance(v, str) for v in r.outputs[0][key].values()),
                key + ": not text")
    g.check(re.fullmatch(r"\d+ kB", r.summary["host_meminfo"]["MemTotal"]),
            "MemTotal")
    stats = read_json(os.path.join(real, "0_per_epoch_stats.json"))
    alike(g, "per_epoch_stats", stats, r.epochs[0])
    for epoch in r.epochs[0].values():
        g.equal(list(epoch), list(stats["1"]) + (
            ["eval"] if evaluated else []), "per_epoch_stats of an epoch")
        g.equal(list(epoch["block1"]), list(stats["1"]["block1"]), "block1")
        g.check(re.fullmatch(r"\d+\.\d\d", epoch["duration"]), "duration")
    for name in ("summary.json", "0_output.json", "0_per_epoch_stats.json"):
        g.check(r.text(name).split("\n")[1].startswith('    "'),
                name + " is not indented by 4")


def log_lines(g, folder, real):
    """Every kind of line that DLIO's log has is in ours, in its order."""
    def kinds(text):
        found = []
        for line in text.splitlines():
            kind = re.sub(r"\{.*\}", "{}", re.sub(STAMP, "T", line))
            kind = re.sub(r"-?\d+(\.\d+)?", "N", kind).strip()
            kind = re.sub(r"(success|fail)$", "VERDICT", kind)
            if kind and kind not in found and "aved" not in kind:
                found.append(kind)
        return found
    with open(os.path.join(DLIO, "results", real, "dlio.log"),
              encoding="utf-8") as f:
        want = kinds(f.read())
    r = run(folder, "default", *QUICK, "workflow.generate_data=True",
            "workflow.evaluation=False", "train.epochs=5",
            "dataset.num_files_train=32", "exp.accelerators=1")
    got = kinds(r.text("dlio.log"))
    # The reference had its data; DLIO tells of making it, too.
    want[0] = want[0].replace("[Training]", "[Generating data & Training]")
    want[1:1] = ["[OUTPUT] T Starting data generation",
                 "[OUTPUT] T Generation done"]
    g.equal([k for k in got if k in want], want, "lines")
    # Our own warnings aside.
    g.equal([k for k in got if k not in want
             and not k.startswith("[WARNING]")], [], "lines that DLIO has not")


def results(tap):
    folder = os.path.join(DLIO, "results")
    if not os.path.isdir(folder):
        print("SKIP: no reference data of other tools; PRONY_PEERS=FOLDER "
              "says where they are")
        return
    for real in sorted(os.listdir(folder)):
        for evaluated in (False, True):
            tap.row("keys as DLIO's", "%s %s" % (real, evaluated), keys, real,
                    evaluated)
        tap.row("log lines as DLIO's", real, log_lines, real)


def main():
    tap = Tap()
    for add in (generating, training, dimensions, traces, shells, workloads,
                results):
        add(tap)
    tap.finish()



main()
