#!/usr/bin/python3
"""What is recorded beside a run, read by the programs it is made for.

Usage: traces_vs_python.py [trace|board|iostat]...

trace: a trace of many threads is JSON, and DLIO's way of counting works on it.
board: an event file is read by a decoder of a few lines and, from build/venv
("make python-deps"), by TensorFlow and TensorBoard.
iostat: our figures of a device under load, beside those of the real iostat
(package sysstat) in the same seconds.

trace_tool in $TOOLS writes the files. One line of TAP for each comparison;
what is not installed is skipped, and said so.
"""

import collections
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(os.environ.get("TOOLS") or os.path.join(
    SRC, "build-check", "tests"), "trace_tool")
VENV = os.path.join(SRC, "build", "venv", "bin", "python")


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def result(self, good, name, why=""):
        self.count += 1
        self.failed += not good
        print("%sok %d - %s" % ("" if good else "not ", self.count, name))
        if not good and why:
            print("    # " + str(why).replace("\n", "\n    # "))
        sys.stdout.flush()

    def same(self, name, ours, want):
        self.result(ours == want, name,
                    "got %.300r\nwant %.300r" % (ours, want))

    def skip(self, name, why):
        self.count += 1
        print("ok %d - %s # SKIP %s" % (self.count, name, why))
        sys.stdout.flush()

    def finish(self):
        print("1..%d" % self.count)
        sys.exit(1 if self.failed else 0)


def tool(*args):
    return subprocess.run([TOOL] + [str(a) for a in args], check=True,
                          stdout=subprocess.PIPE, timeout=300).stdout.decode()


# -------------------------------------------------------------------- traces


def dlio_count(path, category, name):
    """As DLIO's tests of its logging do."""
    with open(path, encoding="utf-8") as f:
        return sum('"cat":"%s"' % category in line
                   and '"name":"%s"' % name in line
                   and "[" not in line and "]" not in line for line in f)


def check_trace(tap, folder):
    threads, spans = 5, 30001
    path = os.path.join(folder, "trace.json")
    tool("trace", path, threads, spans)
    with open(path, encoding="utf-8") as f:
        events = json.load(f)
    got = collections.Counter(
        (e["name"], e["cat"], e["pid"], e["tid"], round(e["ts"] * 1000),
         round(e["dur"] * 1000), tuple(sorted(e["args"].items())))
        for e in events if e["ph"] == "X")
    want = collections.Counter(
        (("item", "data") if i % 2 else ("fetch.iter", "dataloader"))
        + (i % 3, n, i * 1000, n + 1,
           (("epoch", 1), ("sample" if i % 2 else "step", i)))
        for n in range(threads) for i in range(spans))
    tap.result(got == want, "every span is in the trace as it was",
               list((got - want).items())[:2] + list((want - got).items())[:2])
    tap.same("DLIO counts the items",
             dlio_count(path, "data", "item"), threads * (spans // 2))
    tap.same("DLIO counts the fetches",
             dlio_count(path, "dataloader", "fetch.iter"),
             threads * (spans - spans // 2))
    rows = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}
    named = [(e["pid"], e["tid"]) for e in events
             if e["name"] == "thread_name"]
    tap.same("every row has a name, once", sorted(named), sorted(rows))
    tap.same("every process has a name, once",
             sorted((e["pid"], e["args"]["name"]) for e in events
                    if e["name"] == "process_name"),
             [(i, "accelerator %d" % i) for i in range(3)])
    ns = float(tool("cost", path, 1000000))
    print("# a span costs %.0f ns of a processor" % ns)


# ------------------------------------------------------------------- boards


def crc_table():
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
        yield n


CRC32C = list(crc_table())


def masked(data):
    crc = 0xffffffff
    for byte in data:
        crc = CRC32C[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(data):
    at = 0
    while at < len(data):
        length, crc = struct.unpack_from("<QI", data, at)
        assert crc == masked(data[at:at + 8]), "checksum of a length"
        body = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] \
            == masked(body), "checksum of a record"
        yield body
        at += length + 16


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def message(data):
    """Fields of a protobuf message by number."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            if key & 7 == 2:
                length, at = varint(data, at)
            else:
                length = {1: 8, 5: 4}[key & 7]
            value, at = data[at:at + length], at + length
        fields[key >> 3] = value
    return fields


def decode(path):
    """The version, and (wall, step, tag, value) of the scalars."""
    with open(path, "rb") as f:
        events = [message(r) for r in records(f.read())]
    rows = []
    for e in events[1:]:
        value = message(message(e[5])[1])
        rows.append((struct.unpack("<d", e[1])[0], e.get(2, 0),
                     value[1].decode(), struct.unpack("<f", value[2])[0]))
    return events[0][3].decode(), rows


# Prints lines of wall, step, tag, value.
TENSORFLOW = """
import sys
from tensorflow.python.summary.summary_iterator import summary_iterator
for e in summary_iterator(sys.argv[1]):
    for v in e.summary.value:
        print(repr(e.wall_time), e.step, v.tag, v.simple_value)
"""
TENSORBOARD = """
import sys
from tensorboard.backend.event_processing import event_accumulator
a = event_accumulator.EventAccumulator(sys.argv[1], {"scalars": 0}).Reload()
for tag in a.Tags()["scalars"]:
    for e in a.Scalars(tag):
        print(repr(e.wall_time), e.step, tag, e.value)
"""


def in_venv(tap, module, script, path, want):
    name = "%s reads the event file" % module
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    if not os.access(VENV, os.X_OK) or subprocess.run(
            [VENV, "-c", "import " + module.lower()], env=env, check=False,
            stderr=subprocess.DEVNULL).returncode:
        tap.skip(name, "no %s; \"make python-deps\"" % module)
        return
    done = subprocess.run([VENV, "-c", script, path], env=env, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        tap.result(False, name, done.stderr.decode()[-2000:])
        return
    rows = [line.split(" ") for line in done.stdout.decode().splitlines()]
    tap.same(name, sorted((float(w), int(s), t, float(v))
                          for w, s, t, v in rows), sorted(want))


def check_board(tap, folder):
    count = 2001
    logs = os.path.join(folder, "logs")
    tool("board", logs, count)
    path = os.path.join(logs, os.listdir(logs)[0])
    version, rows = decode(path)
    want = [(1.7e9 + i * 0.25, i * 1000003,
             "train/samples_per_s" if i % 2 else "train/wait", i / 8 - 1)
            for i in range(count)]
    tap.same("the version of event files", version, "brain.Event:2")
    tap.same("scalars are in the event file", rows, want)
    in_venv(tap, "TensorFlow", TENSORFLOW, path, want)
    in_venv(tap, "TensorBoard", TENSORBOARD, logs, want)


# ------------------------------------------------------------------- iostat

SECONDS = 4
# Figures, and what is too small to compare.
FIGURES = {"r/s": 20, "w/s": 20, "rMB/s": 2, "wMB/s": 2, "r_await": 0.5,
           "w_await": 0.5, "rareq-sz": 8, "wareq-sz": 8, "aqu-sz": 0.3,
           "util": 6}


def device_here(folder):
    try:
        return tool("device", folder).strip()
    except subprocess.CalledProcessError:
        return ""


def load(folder):
    """Writes and reads past the page cache until it is ended."""
    path = os.path.join(folder, "load")
    dd = ["dd", "status=none", "bs=256k"]
    subprocess.run(dd + ["if=/dev/zero", "of=" + path, "count=256",
                         "oflag=direct"], check=True)
    script = ('while :; do dd if="$0" of=/dev/null bs=128k iflag=direct '
              'status=none; dd if=/dev/zero of="$0.w" bs=256k count=100 '
              'oflag=direct status=none; done')
    return subprocess.Popen(["sh", "-c", script, path],
                            start_new_session=True)


def end(process):
    os.killpg(process.pid, 9)
    process.wait()


def both(folder, device):
    """Statistics of the same seconds: ours, theirs."""
    ours = os.path.join(folder, "ours.json")
    theirs = os.path.join(folder, "theirs.json")
    busy = load(folder)
    try:
        time.sleep(0.5)
        with open(theirs, "w", encoding="utf-8") as f:
            iostat = subprocess.Popen(
                ["iostat", "-mdxtcy", "-o", "JSON", device, "1", str(SECONDS)],
                stdout=f, env=dict(os.environ, LC_ALL="C", TZ="UTC",
                                   S_TIME_FORMAT=""))
            tool("iostat", ours, SECONDS + 0.3, "/dev/" + device)
            iostat.wait()
    finally:
        end(busy)
    out = []
    for path in (ours, theirs):
        with open(path, encoding="utf-8") as f:
            out.append(json.load(f)["sysstat"]["hosts"])
    return out


def mean(statistics, key):
    values = [s["disk"][0][key] for s in statistics]
    return sum(values) / len(values)


def compare_figures(tap, ours, theirs):
    for key, small in FIGURES.items():
        a, b = mean(ours, key), mean(theirs, key)
        tap.result(abs(a - b) <= max(0.25 * max(a, b), small),
                   "iostat says the same: %s" % key,
                   "ours %.2f, theirs %.2f" % (a, b))
    for key in ("user", "system", "iowait", "idle"):
        a, b = (sum(s["avg-cpu"][key] for s in x) / len(x)
                for x in (ours, theirs))
        tap.result(abs(a - b) <= 12, "iostat says the same: cpu %s" % key,
                   "ours %.2f, theirs %.2f" % (a, b))


def check_iostat(tap, folder):
    name = "our device figures and iostat's"
    device = device_here(folder)
    if not device:
        tap.skip(name, "%s is not on a block device; set TMPDIR to one that is" % folder)
        return
    try:
        subprocess.run(["iostat", "-V"], check=True,
                       stdout=subprocess.DEVNULL)
    except OSError:
        tap.skip(name, "no iostat; install sysstat")
        return
    try:
        ours, theirs = both(folder, device)
    except subprocess.CalledProcessError as e:
        tap.skip(name, "no load (%s); run it on a disk" % e)
        return
    a, b = ours[0]["statistics"], theirs[0]["statistics"]
    if "f/s" not in b[0]["disk"][0]:
        tap.skip(name, "this iostat is too old; use sysstat 12.2")
        return
    tap.same("keys of a host", list(ours[0]), list(theirs[0]))
    tap.same("what a host says of itself",
             [v for v in ours[0].values() if not isinstance(v, list)],
             [v for v in theirs[0].values() if not isinstance(v, list)])
    tap.same("keys of an interval", list(a[0]), list(b[0]))
    tap.same("keys of the processors", list(a[0]["avg-cpu"]),
             list(b[0]["avg-cpu"]))
    tap.same("keys of a device", list(a[0]["disk"][0]),
             list(b[0]["disk"][0]))
    tap.same("name of the device", a[0]["disk"][0]["disk_device"],
             b[0]["disk"][0]["disk_device"])
    form = "%m/%d/%y %H:%M:%S"
    gaps = [abs(time.mktime(time.strptime(x["timestamp"], form))
                - time.mktime(time.strptime(y["timestamp"], form)))
            for x, y in zip(a, b)]
    tap.result(max(gaps) <= 2, "times of intervals", gaps)
    tap.same("number of intervals", len(a), SECONDS)
    compare_figures(tap, a[:SECONDS], b[:SECONDS])


CHECKS = {"trace": check_trace, "board": check_board, "iostat": check_iostat}


def main():
    if not os.access(TOOL, os.X_OK):
        print("SKIP: no %s; run it by meson test" % TOOL)
        sys.exit(77)
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="prony-traces-") as folder:
        for name in sys.argv[1:] or CHECKS:
            CHECKS[name](tap, folder)
    tap.finish()


main()
