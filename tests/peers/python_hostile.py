#!/usr/bin/python3
"""prony.wrap where things go wrong: what comes once only, threads that share a
loop, places that cannot be written to, functions of the user's that fail. A
loop that has begun gets its batches, whatever happens to measuring; what must
be refused is refused by wrap() itself."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from _python import need_extension, run, start
from _tap import check, end

need_extension()
# Five batches a trial, one warm-up and three that count, of each phase.
SEEN = 4 * 6 + 4 * 5


def answer(got):
    """What a script printed after ANSWER."""
    found = re.search("^ANSWER (.*)$", got.out, re.M)
    return json.loads(found.group(1)) if found else None


# ---- iterators, which give each batch once

ONCE = {
    "iter(list)": "iter([[i] for i in range(N)])",
    "a generator": "([i] for i in range(N))",
    "map": "map(lambda i: [i], range(N))",
    "a loader that hands out one iterator": "Shared(iter(range(N)))",
    "an iterator class": "Counter(N)",
}


def once():
    for what, made in ONCE.items():
        got = run("""
import json, prony
class Shared:
    def __init__(self, it): self.it = ([i] for i in it)
    def __iter__(self): return self.it
class Counter:
    def __init__(self, n): self.i, self.n = -1, n
    def __iter__(self): return self
    def __next__(self):
        self.i += 1
        if self.i >= self.n: raise StopIteration
        return [self.i]
for N in (0, 1, 5, 50, 500):
    loader = prony.wrap(%s, batch_size=1, quiet=True)
    seen = [b[0] for b in loader]
    assert seen == list(range(N)), (N, seen)
    assert list(loader) == []
r = loader.results
print("ANSWER", json.dumps([list(r), len(r["FULL"]["rates"])]))
""" % made, timeout=60)
        check(got.status == 0, what + ": every batch once, in order", got.all)
        check(answer(got) == [["nranks", "FULL"], 3]
              and "a function that makes it" in got.err,
              what + ": FULL is measured, and the remedy told", got.all)
    got = run("""
import json, prony
def batches():
    for i in range(9): yield [i]
loader = prony.wrap(batches, batch_size=1, quiet=True)
print("ANSWER", json.dumps([b[0] for b in loader]))
""")
    check(answer(got) == [0] * 24 + [0, 1, 2, 3, 4] * 4
          and list(got.result) == ["nranks", "IO", "SYNTHETIC", "FULL"],
          "a function that makes it: all phases", got.all)
    got = run("""
import prony
seen = 0
for batch in prony.wrap([None] * 9, batch_size=1, quiet=True):
    assert batch is None
    seen += 1
    if seen > 1000: break
print("ANSWER", seen)
""", timeout=60)
    check(answer(got) == SEEN, "batches that are None: no endless loop",
          got.all)
    got = run("""
import json, prony
it = ([i] for i in range(20))
loader, seen = prony.wrap(it, batch_size=1, quiet=True), []
for n in range(30):
    for batch in loader:
        seen.append(batch[0])
        if len(seen) % 3 == 0: break
print("ANSWER", json.dumps(seen))
""", timeout=60)
    check(answer(got) == list(range(20)),
          "an iterator in loops that are left early: none is lost", got.all)


# ---- loaders that hand out new iterators over one position

# How a loader of the batches [0], [1], ... is made. All of these lost the
# batches that measuring IO took.
GOES_ON = {
    "a generator over an iterator": """
class L:
    def __init__(self, n): self.it = iter(range(n))
    def __iter__(self): return ([i] for i in self.it)
""",
    "a generator over a generator, of known length": """
class L:
    def __init__(self, n): self.n, self.it = n, (i for i in range(n))
    def __len__(self): return self.n
    def __iter__(self): yield from ([i] for i in self.it)
""",
    "a file": """
class L:
    def __init__(self, n):
        with open("lines", "w") as f: f.writelines("%d\\n" % i for i in range(n))
        self.f = open("lines")
    def __iter__(self): return ([int(line)] for line in self.f)
""",
    "a queue that is closed by None": """
import queue
class L:
    def __init__(self, n):
        self.q = queue.Queue()
        for i in [*range(n), None]: self.q.put(i)
        self.over = False
    def __iter__(self):
        while not self.over:
            i = self.q.get()
            if i is None:
                self.over = True
                return
            yield [i]
""",
    "a list that is used up": """
class L:
    def __init__(self, n): self.todo = list(range(n))
    def __iter__(self):
        while self.todo: yield [self.todo.pop(0)]
""",
    "a position, in memory that is used again": """
class L:
    def __init__(self, n): self.at, self.n, self.batch = 0, n, [None]
    def __len__(self): return self.n
    def __iter__(self):
        while self.at < self.n:
            self.batch[0], self.at = self.at, self.at + 1
            yield self.batch
""",
    "a variable of the script": """
def L(n):
    global it
    it = iter(range(n))
    return Reader()
def one():
    return next(it)
class Reader:
    def __iter__(self):
        while True:
            try: yield [one()]
            except StopIteration: return
""",
    "a variable of a function around it": """
def L(n):
    it = iter(range(n))
    class Reader:
        def __iter__(self): return map(lambda i: [i], it)
    return Reader()
""",
    "a descriptor, whose position nobody sees": """
import os
class L:
    def __init__(self, n):
        with open("bytes", "wb") as f:
            for i in range(n): f.write(b"%8d" % i)
        self.fd = os.open("bytes", os.O_RDONLY)
    def __iter__(self):
        for got in iter(lambda: os.read(self.fd, 8), b""): yield [int(got)]
""",
    "a position in slots": """
class L:
    __slots__ = ("at", "n")
    def __init__(self, n): self.at, self.n = 0, n
    def __iter__(self):
        while self.at < self.n:
            self.at += 1
            yield [self.at - 1]
""",
    "a function over one iterator": """
def L(n):
    it = iter(range(n))
    return lambda: ([i] for i in it)
""",
}

# These begin anew, and all phases are measured. `begun` is how often.
ANEW = {
    "a list": "def L(n): return [[i] for i in range(n)]",
    "a range": "def L(n): return range(n)",
    "a generator function": """
class L:
    def __init__(self, n): self.n = n
    def __iter__(self):
        for i in range(self.n): yield [i]
""",
    "one batch again and again": """
class L:
    def __init__(self, n): self.n, self.batch = n, [0] * 8
    def __iter__(self):
        for i in range(self.n): yield self.batch
""",
    "a loader that counts its epochs": """
class L:
    def __init__(self, n): self.n, self.epochs = n, 0
    def __iter__(self):
        self.epochs += 1
        for i in range(self.n): yield [i]
""",
    "a loader that shuffles": """
import random
class L:
    def __init__(self, n): self.n, self.rng = n, random.Random(7)
    def __len__(self): return self.n
    def __iter__(self):
        for i in self.rng.sample(range(self.n), self.n): yield [i]
""",
    "a file that is opened each time": """
class L:
    def __init__(self, n):
        with open("lines", "w") as f: f.writelines("%d\\n" % i for i in range(n))
    def __iter__(self):
        with open("lines") as f:
            for line in f: yield [int(line)]
""",
    "items by number": """
class L:
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i):
        if i >= self.n: raise IndexError
        return [i]
""",
    "a function that makes it": """
def L(n):
    def batches():
        for i in range(n): yield [i]
    return batches
""",
    "a function that makes one that shuffles, of unknown length": """
import random
def L(n):
    def batches():
        for i in random.sample(range(n), n): yield [i]
    return batches
""",
}


def positions():
    for what, made in GOES_ON.items():
        got = run("""
import json, prony
%s
for N in (1, 2, 3, 8, 50, 500):
    loader = prony.wrap(L(N), batch_size=1, quiet=True)
    seen = [b[0] for b in loader]
    assert sorted(seen) == list(range(N)), (N, seen)
    assert list(loader) == []
print("ANSWER", json.dumps(list(loader.results)))
""" % made, timeout=60)
        check(got.status == 0 and answer(got) == ["nranks", "FULL"]
              and "a function that makes it" in got.err,
              what + ": no batch is lost", got.all)
    for what, made in ANEW.items():
        got = run("""
import json, prony
%s
made = L(20)
loader = prony.wrap(made, batch_size=1, quiet=True)
seen = sum(1 for b in loader)
print("ANSWER", json.dumps([list(loader.results), seen,
                            sum(1 for b in loader)]))
""" % made, timeout=60)
        check(got.status == 0 and answer(got) == [
            ["nranks", "IO", "SYNTHETIC", "FULL"], SEEN, 20]
              and not got.err, what + ": begins anew, all phases", got.all)
    broken()


def broken():
    """Reading it ahead loses nothing where it fails, and asks once."""
    got = run("""
import json, prony
class L:
    def __init__(self): self.at = self.begun = 0
    def __iter__(self):
        self.begun += 1
        while self.at < 3:
            self.at += 1
            if self.at == 2: raise OSError("bad block")
            yield [self.at]
seen, made = [], L()
loader = prony.wrap(made, batch_size=1, quiet=True)
try:
    for batch in loader: seen.append(batch[0])
except OSError as e:
    seen.append(str(e))
print("ANSWER", json.dumps([seen, made.begun]))
""", timeout=60)
    check(answer(got) == [[1, "bad block"], 1],
          "one that fails: its batches, then its error", got.all)
    got = run("""
import json, prony, random
class L:
    def __iter__(self):
        for i in random.sample(range(1 << 40), 30): yield [i]
loader = prony.wrap(L(), batch_size=1, quiet=True)
print("ANSWER", json.dumps([sum(1 for b in loader), sum(1 for b in loader)]))
""", timeout=60)
    check(answer(got) == [31, 30] and "a function that makes it" in got.err,
          "other batches each time, of unknown length: FULL alone, and later "
          "loops begin anew", got.all)


# ---- threads

def threads():
    for what, source in (("a list", "[[i] for i in range(7)]"),
                         ("generators", "Generators()"),
                         ("one generator", "([i] for i in range(44))")):
        got = run("""
import json, prony, sys, threading, time
sys.setswitchinterval(1e-6)
class Generators:
    def __iter__(self):
        for i in range(7):
            time.sleep(0)
            yield [i]
counts = []
for round in range(6):
    loader = prony.wrap(%s, 1, config={"global": {"report_freq": 1}},
                        write=lambda line: time.sleep(0))
    loop, count = iter(loader), []
    def pull():
        for batch in loop:
            count.append(1)
            time.sleep(0)
    def look():
        while any(t.is_alive() for t in threads[:4]):
            loader.results, loader.numbers, loader.verdict
    threads = [threading.Thread(target=pull) for i in range(4)]
    threads.append(threading.Thread(target=look))
    for t in threads: t.start()
    for t in threads: t.join()
    counts.append(len(count))
print("ANSWER", json.dumps(counts))
""" % source, timeout=120)
        check(got.status == 0 and answer(got) == [SEEN] * 6
              and "Error" not in got.err,
              "threads share a loop over %s: each batch once" % what, got.all)
    got = run("""
import json, prony, sys, threading, time
sys.setswitchinterval(1e-6)
counts = []
for round in range(6):
    loader = prony.wrap([[i] for i in range(7)], 1, write=lambda line:
                        time.sleep(0), config={"global": {"report_freq": 1}})
    count = []
    def pull():
        for batch in loader: count.append(1)
    threads = [threading.Thread(target=pull) for i in range(4)]
    for t in threads: t.start()
    while len(count) < 20 or not loader.session: time.sleep(0)
    loader.session.finish()
    for t in threads: t.join()
    counts.append(len(count) > 20)
print("ANSWER", json.dumps(counts))
""", timeout=120)
    check(got.status == 0 and answer(got) == [True] * 6
          and "Error" not in got.err,
          "threads with loops of their own, and the end from outside", got.all)


def loops():
    got = run("""
import json, prony
loader, inner = prony.wrap([[i] for i in range(7)], 1, quiet=True), []
outer = 0
for batch in loader:
    outer += 1
    if outer in (3, 30): inner.append([b[0] for b in loader])
a, b = iter(loader), iter(loader)
print("ANSWER", json.dumps([outer, inner, [next(a)[0], next(b)[0], next(a)[0]],
                            len(loader.results["FULL"]["rates"])]))
""")
    check(answer(got) == [SEEN, [[0, 1, 2, 3, 4, 5, 6]] * 2, [0, 0, 1], 3],
          "loops within a loop are over the loader as it is", got.all)
    got = run("""
import json, prony
loader = prony.wrap([[i] for i in range(7)], 1, quiet=True)
a, b = iter(loader), iter(loader)
print("ANSWER", json.dumps([len(list(zip(a, b))), len(list(a))]))
""")
    check(got.status == 0 and answer(got) == [7, SEEN - 8],
          "two iterators: the first is measured", got.all)
    got = run("""
import json, prony
loop = None
class Source:
    def __iter__(self):
        for i in range(20):
            if i == 3 and loop: next(loop)
            yield [i]
loop = iter(prony.wrap(Source(), 1, quiet=True, config={
    "IO": {"run_benchmark": False}, "synthetic": {"run_benchmark": False}}))
for batch in loop: pass
""", timeout=60)
    check(got.status == 1 and "ValueError: " in got.err
          and "by what it gets them from" in got.err,
          "a source that loops over its own loop: an error, no hang", got.all)


# ---- a loop that has begun goes on

# What happens in the 10th step; what is told.
SPOILERS = {
    "the folder of the result is gone, a file is in its place": (
        "shutil.rmtree('out'); open('out', 'w').close()",
        "the result is not in its file"),
    "no file may have a byte": (
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))",
        "the result is not in its file"),
    "who takes the lines fails": ("broken.append(1)",
                                  "no more lines are written"),
    "sync fails": ("broken.append(2)", "sync() failed: nothing more"),
}


def goes_on():
    for what, (spoil, told) in SPOILERS.items():
        got = run("""
import json, os, prony, resource, shutil, sys
broken, out = [], sys.stdout
def write(line):
    if 1 in broken: raise BrokenPipeError("nobody reads")
def sync():
    if 2 in broken: raise RuntimeError("device lost")
loader = prony.wrap([[i] for i in range(7)], 1, write=write, sync=sync,
                    config={"global": {"output": "out/r.json"}})
seen = []
for batch in loader:
    seen.append(batch[0])
    if len(seen) == 10: %s
os.write(1, b"ANSWER %%d\\n" %% len(seen))
""" % spoil)
        n = 12 + 7 if "sync" in what else SEEN
        check(got.status == 0 and answer(got) == n
              and got.err.count(told) == 1 and "Traceback" not in got.err,
              what + ": told once, the loop goes on", got.all)
    got = run("""
import prony, sys
sys.stdout.close()
sys.stderr.close()
n = sum(1 for b in prony.wrap([[i] for i in range(7)], 1))
open("n", "w").write(str(n))
""")
    check(got.files.get("n") == str(SEEN), "nobody listens: closed stdout and "
          "stderr", got.all)
    got = run("""
import prony
def sync():
    global n
    n += 1
    if n == 40: raise KeyboardInterrupt
n = 0
for b in prony.wrap([[0]] * 9, 1, quiet=True, sync=sync): pass
""")
    check("KeyboardInterrupt" in got.err and got.status != 0,
          "Ctrl-C is no mistake: it goes on its way", got.all)
    got = run("""
import prony, shutil, os
loader = prony.wrap([[0]] * 9, 1, quiet=True,
                    config={"global": {"output": "out/r.json"}})
for n, b in enumerate(loader):
    if n == 2: os.rename("out", "away")
print("ANSWER", len(open("out/r.json").read()) > 200 and "true")
""")
    check(answer(got) is True and "not in its file" not in got.err,
          "a folder that is gone is made anew", got.all)


def mounted():
    """On a file system that is full, or read-only since the loop began."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        check(True, "a full file system # SKIP no rights to mount; run it as root")
        return
    for what, spoil in (
            ("full", "dd if=/dev/zero of=out/fill bs=4k >/dev/null 2>&1"),
            ("read-only", "mount -o remount,ro out")):
        folder = tempfile.mkdtemp(prefix="prony-python.")
        try:
            job = start(folder, """
import os, prony
seen = 0
for batch in prony.wrap([[i] for i in range(7)], 1, quiet=True,
                        config={"global": {"output": "out/r.json"}}):
    seen += 1
    if seen == 10: os.system(%r)
print("ANSWER", seen)
try:
    prony.wrap([[0]], 1, config={"global": {"output": "out/s.json"}})
except prony.InputOutputError as e:
    print("REFUSED", e)
""" % spoil)
            os.mkdir(os.path.join(folder, "out"))
            job["args"] = ["unshare", "-m", "sh", "-c",
                           "mount -t tmpfs -o size=64k none out || exit 99; "
                           "exec \"$@\"", "sh", *job["args"]]
            done = subprocess.run(**job, timeout=120, check=False)
            text = done.stdout + done.stderr
            if done.returncode == 99:
                check(True, "a %s file system # SKIP no rights to mount; run it as root"
                      % what)
                continue
            check(done.returncode == 0 and "ANSWER %d" % SEEN in text
                  and done.stderr.count("not in its file") == 1,
                  "a %s file system: told once, the loop goes on" % what, text)
            check("REFUSED" in text and "out/s.json" in text,
                  "a %s file system: refused by wrap()" % what, text)
        finally:
            shutil.rmtree(folder)


# ---- refused by wrap()

def refused():
    script = """
import os, prony
os.mkdir("folder")
open("file", "w").write("mine")
os.mkfifo("fifo")
def refused(call, error, words, f):
    try:
        f()
        print("TAKEN", call)
    except error as e:
        print("REFUSED" if words in str(e) else "OTHERWISE", call, e)
"""
    output = "[[0]], config={'global': {'output': '%s'}}"
    cases = [
        (output % "file/r.json", "prony.InputOutputError", "file/r.json"),
        (output % "folder", "prony.InputOutputError", "not a regular file"),
        (output % "fifo", "OSError", "not a regular file"),
        (output % "file", "prony.InputOutputError", "is there already"),
        (output % "/proc/r.json", "prony.InputOutputError", "/proc/r.json"),
        ("[[0]], config={'global': {'profiler_mode': 'sngle'}}", "ValueError",
         "must be one of single, all, none"),
        ("[[0]], config={'full': {'nbatches': 0}}", "ValueError", "at least 1"),
        ("[[0]], config={'full': {'nbatches': 'many'}}", "TypeError", ""),
        ("[[0]], config={'full': 3}", "TypeError", "full"),
        ("[[0]], config='nowhere.yaml'", "prony.Error", "nowhere.yaml"),
        ("[[0]], batch_size=0", "ValueError", "batch_size"),
        ("[[0]], batch_size='8'", "TypeError", "batch_size"),
        ("[[0]], sync=3", "TypeError", "sync"),
        ("[[0]], write='log'", "TypeError", "write"),
        ("7", "TypeError", "not iterable"),
    ]
    got = run(script + "".join(
        "refused(%r, %s, %r, lambda: prony.wrap(%s))\n" % (call, error, words,
                                                           call)
        for call, error, words in cases))
    for call, _, _ in cases:
        check("REFUSED " + call in got.out, "refused: " + call, got.all)
    check(got.status == 0 and got.files.get("file") == "mine",
          "files are left as they were", got.all)
    got = run("import prony\nprony.wrap([[0]])\n", PRONY_TRACE="/proc/t.json")
    check(got.status == 1 and "/proc/t.json" in got.err,
          "refused: a trace that cannot be written", got.all)
    got = run("import os, prony, stat\nn = sum(1 for b in prony.wrap([[0]] * 9))\n"
              "print('ANSWER', n if stat.S_ISCHR(os.stat('/dev/null').st_mode)"
              " else 0)\n", BENCHY_OUTPUT_FILE="/dev/null")
    check(got.status == 0 and answer(got) == SEEN and "Error" not in got.err,
          "/dev/null: no file is written, and it stays a device", got.all)
    for i in range(2):
        got = run("""
import prony
open("benchy_result.json", "w").write('{"nranks": 1}' if %d else "")
for b in prony.wrap([[0]] * 9): pass
""" % i)
        check(got.status == 0 and "FULL" in got.result,
              "an older result is replaced", got.all)


# ---- memory

def memory():
    got = run("""
import gc, json, os, prony
from prony.session import Session
def kilobytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 10
def some(n, left_early):
    for i in range(n):
        for k, b in enumerate(prony.wrap([[0]] * 9, 1, quiet=True, config={
                "global": {"output": ""}})):
            if left_early and k == 30: break
some(100, True); some(100, False)
before = kilobytes()
some(500, True); some(500, False)
after = kilobytes()
loader = prony.wrap([[0]] * 9, 1, quiet=True)
for b in loader: pass
start = kilobytes()
for epoch in range(30000):
    for b in loader: pass
sessions = sum(isinstance(o, Session) for o in gc.get_objects())
print("ANSWER", json.dumps([after - before, kilobytes() - start, sessions]))
""", timeout=300)
    grown = answer(got)
    # A sanitizer keeps what was freed.
    most = (2000, 1000) if not os.environ.get("PYTHON_SANITIZER") else (
        1 << 20, 1 << 20)
    check(got.status == 0 and grown and grown[0] < most[0]
          and grown[1] < most[1] and grown[2] <= 2, "1,000 measurements and 30,000 epochs take no "
          "more memory (KB, KB, sessions: %s)" % grown, got.all)


for part in (once, positions, threads, loops, goes_on, mounted, refused, memory):
    part()
sys.exit(end())
