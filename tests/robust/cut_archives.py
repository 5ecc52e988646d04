#!/usr/bin/env python3
"""Archives of every kind that `parse` reads, cut at many places: an error that
names the archive, status 5, never more than was in it, and what could be read
is in the answer. Crafted ones take no time out of proportion."""

import gzip
import io
import json
import os
import re
import resource
import struct
import subprocess
import tarfile
import time
import zipfile

from _robust import PRONY, Scratch

LOGS = 8
t = Scratch()


def log(i):
    chatter = "".join("step %d of %d: loss %.5f\n" % (k, i, 1 / (k + i + 1))
                      for k in range(60))
    return ("__exp.id__= \"%d\"\n%s__results.time__= %d.5\n"
            % (i, chatter, i + 1)).encode()


def tar(mode):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as f:
        for i in range(LOGS):
            info = tarfile.TarInfo("logs/%d.log" % i)
            info.size = len(log(i))
            f.addfile(info, io.BytesIO(log(i)))
    return out.getvalue()


def zipped(method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as f:
        for i in range(LOGS):
            f.writestr("logs/%d.log" % i, log(i))
    return out.getvalue()


KINDS = {  # what is in it, and how many results
    "a.tar": (tar("w:"), LOGS),
    "a.tar.gz": (tar("w:gz"), LOGS),
    "a.tgz": (tar("w:gz"), LOGS),
    "a.zip": (zipped(zipfile.ZIP_DEFLATED), LOGS),
    "stored.zip": (zipped(zipfile.ZIP_STORED), LOGS),
    "a.log.gz": (gzip.compress(log(3)), 1),
    "a.json.gz": (gzip.compress(json.dumps(
        {"data": [{"results.time": i + 1} for i in range(LOGS)]}).encode()),
        LOGS),
}


def parse(path, *more):
    p = subprocess.run([PRONY, "parse", path, *more], capture_output=True,
                       stdin=subprocess.DEVNULL, timeout=120)
    found = re.match(rb"(\d+) results?", p.stdout)
    return p.returncode, int(found[1]) if found else 0, p.stderr.decode()


def write(name, data):
    with open(t.path(name), "wb") as f:
        f.write(data)
    return t.path(name)


def end_of_members(name, data):
    """A tar may lose the zeros after those that mark its end."""
    if not name.endswith(".tar"):
        return len(data)
    with tarfile.open(fileobj=io.BytesIO(data)) as f:
        last = f.getmembers()[-1]
    return last.offset_data + (last.size + 511) // 512 * 512 + 512


def places(name, data):
    end = end_of_members(name, data)
    found = {0, 1, 2, 3, 5, 21, 100, 300, 511, 512, 513, end - 1, end - 513,
             len(data) * 6 // 10}
    found.update(range(0, end, max(1, end // 25)))
    if name.endswith(".tar"):  # between two members
        with tarfile.open(fileobj=io.BytesIO(data)) as f:
            found.update(m.offset for m in f.getmembers())
    return sorted(n for n in found if 0 <= n < end)


def try_cuts(name, data, whole):
    code, count, err = parse(write(name, data))
    t.check(code == 0 and count == whole and not err,
            "%s, whole: status %d, %d results: %s" % (name, code, count, err))
    most = 0
    for n in places(name, data):
        what = "%s, cut at %d of %d bytes" % (name, n, len(data))
        path = write(name, data[:n])
        code, count, err = parse(path)
        t.check(code == 5, "%s: status %d" % (what, code))
        t.check(path in err, "%s: not named: %s" % (what, err))
        t.check(str(n) in err, "%s: does not say how much: %s" % (what, err))
        t.check(count <= whole, "%s: %d results" % (what, count))
        most = max(most, count)
        code, again, _ = parse(path, "--ignore-errors", "-q")
        t.check(code == 0 and again == count,
                "%s: status %d with --ignore-errors" % (what, code))
    if ".tar" in name or name.endswith(".tgz"):
        t.check(most >= whole - 1, "%s: only %d of its results are ever read"
                % (name, most))


def cut_list():
    """A list of results is no archive, but cut all the same."""
    data = json.dumps({"data": [{"results.time": i + 1, "pad": "x" * 100}
                                for i in range(60000)]}).encode()
    for size in (2000, len(data) // 2):  # read as a whole, and in parts
        path = write("list.json", data[:size])
        code, count, err = parse(path)
        t.check(code == 5 and path in err and count > 1,
                "a list cut at %d: status %d, %d results: %s"
                % (size, code, count, err))


def beside_others():
    """A whole one beside it does not hide it; nor do other verbs."""
    data = KINDS["a.tar"][0]
    cut = write("cut.tar", data[:len(data) * 6 // 10])
    good = write("good.tar", data)
    for args in (["parse", good, cut], ["parse", cut, "-o", t.path("o.json")],
                 ["compare", good, cut],
                 ["scaling", cut, "--type", "exploration"],
                 ["plot", good, cut, "--yparam", "results.time"]):
        p = subprocess.run([PRONY] + args, capture_output=True, timeout=120)
        t.check(p.returncode == 5 and cut.encode() in p.stderr,
                "%s: status %d: %s" % (args[0], p.returncode, p.stderr))


def overlapping():
    """Many entries of one member: each byte is unpacked once at most."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as f:
        f.writestr("a.log", b"step 1 of 1\n" * 4000000)
    data = out.getvalue()
    start = data.rfind(b"PK\1\2")
    end = data.rfind(b"PK\5\6")
    entries = 60000
    directory = data[start:end] * entries
    tail = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, entries, entries,
                       len(directory), start, 0)
    path = write("bomb.zip", data[:start] + directory + tail)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, _, err = parse(path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    t.check(code == 5 and "overlap" in err, "overlapping: status %d: %s"
            % (code, err))
    # Unpacked once for each entry it would be 3 TB: hours, not seconds.
    t.check(took < 60, "overlapping: %.0f s of processor time" % took)
    print("overlapping entries: %.2f s" % took)


def main():
    os.chdir(t.path())
    begun = time.monotonic()
    for name, (data, whole) in KINDS.items():
        try_cuts(name, data, whole)
    cut_list()
    beside_others()
    overlapping()
    t.finish("%d kinds of archives, %.1f s" % (len(KINDS),
                                               time.monotonic() - begun))


main()
