#!/usr/bin/python3
"""prony.Loader against what numpy and Pillow read from the same files, and
what becomes of the memory of its batches. Needs numpy; pictures need Pillow,
the last part PyTorch ($PRONY_TORCH_PYTHON or build/venv)."""

import os
import shutil
import subprocess
import sys
import tempfile

from _python import has, interpreter, need_extension, run, skip
from _tap import check, end

need_extension()
if not has(sys.executable, "numpy"):
    skip("no numpy; install python3-numpy")

MAKE = """
import numpy as np, os, prony, sys, threading, gc, time
def make(dtype=np.int16, fortran=False):
    for c, name in enumerate(("cat", "dog")):
        os.makedirs("d/train/" + name, exist_ok=True)
        for i in range(10):
            x = np.arange(12).reshape(3, 4) + 20 * (10 * c + i)
            np.save("d/train/%s/%d.npy" % (name, i), np.asarray(
                x.astype(dtype), order="F" if fortran else "C"))
def want(i, dtype=np.int16):
    return (np.arange(12).reshape(3, 4) + 20 * i).astype(dtype)
"""


def case(what, code, python=sys.executable, status=0, err="", **env):
    got = run(MAKE + code, python, config=None, timeout=120, **env)
    check(got.status == status and err in got.err, what, got.all)
    return got


case("batches are what numpy reads, in order, with the folders as labels", """
for dtype in ("int16", "float32", "uint8", "float64", "int64"):
    for fortran in (False, True):
        make(dtype, fortran)
        loader = prony.Loader("d", 4)
        assert len(loader) == 5 and loader.classes == ["cat", "dog"]
        at = 0
        for x, y in loader:
            assert x.dtype == dtype and x.shape == (4, 3, 4), x.dtype
            for sample, label in zip(x, y):
                assert (sample == want(at, dtype)).all(), (dtype, fortran, at)
                assert label == at // 10
                at += 1
        assert at == 20
        loader.close()
""")
case("labels are whole or refused", """
os.makedirs("e")
for label in (2**31 - 1, -2**31, 7, 2**32 + 5, 2**31):
    np.savez("e/a.npz", x=np.zeros((2, 2, 1), np.uint8), y=np.array([label]))
    loader = prony.Loader("e", 1)
    try:
        (x, y), = loader
        assert y[0] == label and label < 2**31, (label, y[0])
    except prony.ConfigError as e:
        assert label >= 2**31 and "32 bits" in str(e), (label, e)
""")
case("nothing is copied, and memory is used again only when it is let go", """
make()
loader = prony.Loader("d", 4)
all = []
for epoch in range(10):
    for x, y in loader:
        all.append((x, y))
for n, (x, y) in enumerate(all):          # 50 batches, none overwritten
    assert (x[0] == want(n % 5 * 4)).all() and y[3] == (n % 5 * 4 + 3) // 10
places = len({x.__array_interface__["data"][0] for x, y in all})
assert places == 50, places
held = loader.facts()["buffer_bytes"]
del all, x, y
places = set()
for epoch in range(20):
    for x, y in loader:
        places.add(x.__array_interface__["data"][0])
        x += 1                            # it may be written to
assert len(places) <= 60, len(places)     # not one for each of 100 batches
""")
case("an array keeps its batch, also after the loader and a fork", """
make()
loader = prony.Loader("d", 4)
batch = next(iter(loader))[0]
row = batch[1]
del batch
loader.close()
del loader
gc.collect()
assert (row == want(1)).all()
child = os.fork()
if child == 0:
    del row
    gc.collect()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert (row == want(1)).all()
""")
case("a forked child reads with threads of its own", """
make()
loader = prony.Loader("d", 4)
half = iter(loader)
next(half)
child = os.fork()
if child == 0:
    try:
        next(half)
        os._exit(1)
    except RuntimeError as e:
        assert "does not survive a fork" in str(e)
    assert [int(x[0, 0, 0]) // 20 for x, y in loader] == [0, 4, 8, 12, 16]
    del half, loader
    gc.collect()
    os._exit(7)
assert os.waitpid(child, 0)[1] >> 8 == 7
assert len(list(half)) == 4
""")
case("a forked child that drops its parent's loop: its own are apart", """
make()
loader = prony.Loader("d", 4)
half = iter(loader)
next(half)
child = os.fork()
if child == 0:
    assert len(list(loader)) == 5
    del half
    gc.collect()
    assert len(list(zip(loader, loader))) == 5
    os._exit(7)
assert os.waitpid(child, 0)[1] >> 8 == 7
""")
if has(sys.executable, "h5py"):
    # The extension is loaded into a process that reads them: also from a path
    # that no list of paths can hold, and in a fork.
    HDF5 = """
import h5py, shutil, _prony
if sys.argv[1:] == ["again"]:
    assert ": " in _prony.__file__
def aside():
    return [p for p in os.listdir("/proc") if p.isdigit() and
            os.path.exists("/proc/%s/stat" % p) and
            open("/proc/%s/stat" % p).read().split(")")[1].split()[1] ==
            str(os.getpid())]
os.makedirs("h")
for i in range(20):
    with h5py.File("h/%02d.hdf5" % i, "w",
                   libver=("earliest", "latest")[i % 2]) as f:
        f.create_dataset("x%d" % i, data=want(i)[None], chunks=(1, 3, 4),
                         scaleoffset=(None, 0)[i % 2])
def read(loader):
    at = 0
    for x in loader:
        for sample in x:
            assert (sample == want(at)).all(), at
            at += 1
    assert at == 20
read(prony.Loader("h", 4, threads=2))
loader = prony.Loader("h", 4, threads=2, prefetch=1)
half = iter(loader)
next(half)
child = os.fork()
if child == 0:
    read(loader)
    os._exit(7)
assert os.waitpid(child, 0)[1] >> 8 == 7
assert len(list(half)) == 4
loader.close()
assert not aside(), aside()
"""
    case("hdf5 files of any structure, read in a process aside", HDF5)
    case("and where the extension has a path that is a list", """
import _prony, shutil, subprocess
os.makedirs("a: b")
shutil.copy(_prony.__file__, "a: b/")
os.environ["PYTHONPATH"] = os.pathsep.join(
    [os.path.dirname(os.path.dirname(prony.__file__))])
code = 'import sys; sys.path.insert(0, %r)' % os.path.abspath("a: b")
sys.exit(subprocess.call([sys.executable, "-c",
                          code + chr(10) + os.environ["HDF5"], "again"]))
""", HDF5=MAKE + HDF5)
else:
    check(True, "hdf5 # SKIP no h5py in %s; install "
          "python3-h5py" % sys.executable)
case("the same seed, the same order; each epoch another; a whole one after a "
     "break", """
make()
def epoch(loader):
    return [int(s[0, 0]) // 20 for x, y in loader for s in x]
a, b = prony.Loader("d", 4, shuffle=True), prony.Loader("d", 4, shuffle=True,
                                                        threads=1)
first, second = epoch(a), epoch(a)
assert sorted(first) == sorted(second) == list(range(20)), first
assert first != second and first != sorted(first)
assert [epoch(b), epoch(b)] == [first, second]
for x, y in a: break
assert sorted(epoch(a)) == list(range(20))
assert epoch(prony.Loader("d", 4, shuffle=True, seed=5)) != first
""")
case("the last batch is smaller, or dropped", """
make()
for size in (1, 3, 4, 8, 19, 20, 4000):
    loader = prony.Loader("d", size)
    full = min(size, 20)
    sizes = [full] * (20 // full) + [20 % full] * (20 % full > 0)
    for epoch in range(3):
        got = list(loader)
        assert [len(x) for x, y in got] == [len(y) for x, y in got] == sizes
        assert len(loader) == len(sizes)
        x = np.concatenate([x for x, y in got])
        y = np.concatenate([y for x, y in got])
        assert (x == [want(i) for i in range(20)]).all()
        assert y.tolist() == [i // 10 for i in range(20)]
    if size > 20: continue
    loader = prony.Loader("d", size, drop_last=True)
    for epoch in range(3):
        assert [len(x) for x, y in loader] == [size] * (20 // size)
    assert len(loader) == 20 // size
raw = list(prony.Loader("d", 8, output="array"))[-1][0]
assert raw.__array_interface__["shape"] == (4, 3, 4)
""")
case("mistakes are errors with words", """
make()
def error(kind, words, *args, **kwargs):
    try:
        prony.Loader(*args, **kwargs)
    except kind as e:
        assert words in str(e), (words, str(e))
        if isinstance(e, prony.Error):
            assert isinstance(e.hint, str) and isinstance(e.where, str)
        return
    raise AssertionError("no " + words)
error(prony.Error, "nowhere", "nowhere", 4)
error(prony.ConfigError, "do not fill a batch", "d", 4000, drop_last=True)
error(ValueError, "output must be one of", "d", output="tensors")
error(ValueError, "batch_size", "d", 0)
error(ValueError, "shape must be", "d", shape=(1, 2))
error(prony.ConfigError, "on_erorr", "d", params={"reader.on_erorr": "skip"})
loader = prony.Loader("d", 4)
loader.close()
try:
    next(iter(loader))
    raise AssertionError
except RuntimeError as e:
    assert "closed" in str(e)
with open("d/train/cat/3.npy", "r+b") as f:
    f.truncate(100)
try:
    list(prony.Loader("d", 4))
    raise AssertionError
except prony.Error as e:
    assert "3.npy" in str(e), e
assert len(list(prony.Loader("d", 4, params={"reader.on_error": "skip"}))) == 5
""")
case("several loops at a time: each has all batches", """
make()
want = [0, 4, 8, 12, 16]
def first(batch): return int(batch[0][0, 0, 0]) // 20
loader = prony.Loader("d", 4)
assert [(first(a), first(b)) for a, b in zip(loader, loader)] == [
    (i, i) for i in want]
seen = []
for a in loader:
    seen.append((first(a), [first(b) for b in loader]))
assert seen == [(i, want) for i in want], seen
a, b = iter(loader), iter(loader)
next(a); next(b); next(a)
del a
assert [first(x) for x in b] == want[1:]
assert [first(x) for x in loader] == want
got, wrong = [], []
def pull():
    try:
        for i in range(5): got.append([first(x) for x in loader])
    except Exception as e:
        wrong.append(e)
threads = [threading.Thread(target=pull) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
assert not wrong and got == [want] * 20, (wrong, got)
a = iter(loader)
next(a)
loader.close()
try:
    next(a)
    raise AssertionError
except RuntimeError as e:
    assert "closed" in str(e)
""")
CTRL_C = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # in a batch job, too
def interrupt():
    for i in range(300): time.sleep(.001)         # other threads run meanwhile
    os.kill(os.getpid(), signal.SIGINT)
def soon():
    threading.Thread(target=interrupt, daemon=True).start()
def interrupted(f):
    try:
        f()
    except KeyboardInterrupt:
        return
    raise AssertionError("it did not wait")
"""
# Reads of this file come back when there is a file "go", which may be never.
HANG = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    char link[64], path[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) > 0 &&
        strstr(path, "/hangs."))
        while (access("go", F_OK))
            usleep(1000);
    return syscall(SYS_pread64, fd, to, n, at);
}
ssize_t pread64(int fd, void *to, size_t n, off_t at)
{
    return pread(fd, to, n, at);
}
"""


def hanging(folder):
    """Ctrl-C on storage that hangs; None without a compiler."""
    with open(os.path.join(folder, "hang.c"), "w", encoding="utf-8") as f:
        f.write(HANG)
    library = os.path.join(folder, "hang.so")
    if not shutil.which("cc") or subprocess.run(
            ["cc", "-shared", "-fPIC", "-w", "-o", library, f.name],
            check=False).returncode:
        check(True, "Ctrl-C while storage hangs # SKIP no C compiler; install gcc")
        return
    preload = " ".join(filter(None, [os.environ.get("PYTHON_SANITIZER"),
                                     library]))
    case("Ctrl-C while storage hangs, at opening", CTRL_C + """
make()
os.rename("d/train/cat/0.npy", "d/train/cat/hangs.npy")
for i in range(1, 10): os.unlink("d/train/cat/%d.npy" % i)
soon()
interrupted(lambda: prony.Loader("d", 4))
""", LD_PRELOAD=preload)
    case("a timer ends a wait for storage, which then answers", """
import signal
def late(*_): raise TimeoutError
signal.signal(signal.SIGALRM, late)
make()
os.rename("d/train/cat/0.npy", "d/train/cat/hangs.npy")
for i in range(1, 10): os.unlink("d/train/cat/%d.npy" % i)
signal.setitimer(signal.ITIMER_REAL, .3)
try:
    prony.Loader("d", 4, params={"reader.io_timeout": 0})
    raise AssertionError("it did not wait")
except TimeoutError:
    pass
gc.collect()
filled = [os.urandom(n) for n in range(8, 256)]  # what was freed is used again
open("go", "w").close()
time.sleep(.3)
""", LD_PRELOAD=preload)
    case("Ctrl-C while storage hangs, in a loop", CTRL_C + """
make()
os.rename("d/train/dog/9.npy", "d/train/dog/hangs.npy")
loader = prony.Loader("d", 4, params={"reader.io_timeout": 0})  # wait for ever
loop = iter(loader)
soon()
interrupted(lambda: list(loop))
del loop, loader
gc.collect()
""", LD_PRELOAD=preload)


with tempfile.TemporaryDirectory() as folder:
    hanging(folder)
case("without numpy: what to do is said", """
make()
sys.modules["numpy"] = None
try:
    prony.Loader("d", 4)
    raise AssertionError
except ImportError as e:
    assert "pip install numpy" in str(e) and 'output="array"' in str(e), e
assert len(list(prony.Loader("d", 4, output="array"))) == 5
""")
case("what a probe says of it", """
make()
loader = prony.wrap(prony.Loader("d", 4), batch_size=4, quiet=True,
                    config={p: {"nbatches": 7} for p in
                            ("IO", "synthetic", "full")})
assert sum(1 for b in loader) == 4 * 8 + 4 * 7
r = loader.results["FULL"]
assert [round(a * b) for a, b in zip(r["trial_throughput"], r["trial_time"])] \\
    == [28] * 3
""")
if has(sys.executable, "PIL"):
    case("pictures are what Pillow decodes, resized and normalised", """
from PIL import Image
os.makedirs("p/train/a")
for i in range(6):
    x = np.linspace(0, 255, 32 * 32 * 3).reshape(32, 32, 3)[:, ::(-1) ** i]
    Image.fromarray(x.astype("uint8")).save("p/train/a/%d.png" % i)
mean, deviation = [.485, .456, .406], [.229, .224, .225]
for x, y in prony.Loader("p", 3, (3, 32, 32)):
    assert x.dtype == np.float32 and x.shape == (3, 3, 32, 32)
pixels = np.asarray(Image.open("p/train/a/5.png"), np.float32) / 255
pixels = ((pixels - mean) / deviation).transpose(2, 0, 1)
assert abs(x[2] - pixels).max() < 1e-5, abs(x[2] - pixels).max()
""")
torch = interpreter("PRONY_TORCH_PYTHON", "torch", "numpy")
if torch:
    case("what cannot be had by dlpack is refused, not ignored", """
make()
import torch
raw = next(iter(prony.Loader("d", 4, output="array")))[0]
def refused(error, **how):
    try:
        raw.__dlpack__(**how)
    except error:
        return
    raise AssertionError(how)
refused(BufferError, copy=True)
refused(BufferError, dl_device=(2, 0))
refused(TypeError, dl_device=2)
for how in ({"copy": False}, {"copy": None, "dl_device": (1, 0)},
            {"max_version": (1, 0), "stream": None}):
    raw.__dlpack__(**how)
assert torch.from_dlpack(raw)[1, 0, 0] == want(1)[0, 0]
""", torch)
    case("torch tensors share the memory", """
make()
import torch
for dtype in ("uint16", "int16", "float32", "uint8", "float64"):
    make(dtype)
    loader = prony.Loader("d", 4, output="torch")
    at = 0
    if not hasattr(torch, dtype):          # before 2.3
        try:
            next(iter(loader))
        except TypeError as e:
            assert "has no type for " + dtype in str(e), e
            continue
        raise AssertionError(dtype)
    for x, y in loader:
        assert isinstance(x, torch.Tensor) and y.dtype == torch.int64
        assert (x[1].numpy() == want(at + 1, dtype)).all()
        at += 4
raw = next(iter(prony.Loader("d", 4, output="array")))[0]
a, b = np.asarray(raw), torch.from_dlpack(raw)
a[0, 0, 0] = 77
assert b[0, 0, 0] == 77 and b.data_ptr() == a.ctypes.data
del a, raw
threading.Thread(target=lambda t: t.clear(), args=([b],)).start()
capsule = next(iter(prony.Loader("d", 4, output="array")))[0].__dlpack__()
del capsule                                # never taken
""", torch)
else:
    check(True, "torch tensors # SKIP no PyTorch; \"make python-deps\"")
sys.exit(end())
