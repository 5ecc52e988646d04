"""A power cut: what was called done is there afterwards, whole. A small ext4 in
a file loses everything that was not synced: its journal is shut down as a cut
would do it. Needs root for that; skipped loudly without."""

import fcntl
import glob
import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys

from _robust import PRONY, Scratch, run, start, wait_until

SHUTDOWN = 0x8004587D  # FS_IOC_SHUTDOWN
NO_LOG_FLUSH = 2


class Disk:
    """An ext4 of its own."""

    def __init__(self, t):
        self.image, self.at = t.path("disk.img"), t.path("disk")
        os.mkdir(self.at)

    def make(self):
        with open(self.image, "wb") as f:
            f.truncate(96 << 20)
        made = subprocess.run(["mkfs.ext4", "-q", "-F", self.image],
                              capture_output=True, check=False)
        return made.returncode == 0 and self.mount()

    def mount(self):
        # Only a sync writes anything: no timer does it for us.
        return subprocess.run(
            ["mount", "-o", "loop,commit=1000", self.image, self.at],
            capture_output=True, check=False).returncode == 0

    def umount(self):
        subprocess.run(["umount", "-l", self.at], check=False)

    def cut(self, with_names):
        """The power goes, with everything that was not synced. with_names:
        some other program's sync has brought names to the device, but no
        contents."""
        if with_names:
            with open(os.path.join(self.at, "other"), "w") as f:
                f.write("somebody else's")
                f.flush()
                os.fsync(f.fileno())
        fd = os.open(self.at, os.O_RDONLY)
        fcntl.ioctl(fd, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        os.close(fd)

    def power_on(self):
        subprocess.run(["umount", self.at], check=True)
        if not self.mount():
            sys.exit("cannot mount the image again")

    def path(self, *names):
        return os.path.join(self.at, *names)


def contents(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = hashlib.sha256(
                    f.read()).hexdigest()
    return found


def compare(t, what, before, folder):
    after = contents(folder) if os.path.isdir(folder) else {}
    lost = [n for n in before if after.get(n) != before[n]]
    t.check(not lost, "%s: %d of %d files lost or damaged: %s" % (
        what, len(lost), len(before), sorted(lost)[:5]))
    t.check(not [n for n in after if os.path.basename(n).startswith(".new-")],
            "%s: half-made files" % what)


TRAINING = ["exp.workload=emulate", "workflow.generate_data=true",
            "dataset.num_files_train=8", "dataset.record_length_bytes=4096",
            "dataset.format=npy", "reader.batch_size=2",
            "train.computation_time=0", "exp.accelerators=2"]


def finished(t, disk, with_names):
    """A run that ended, its data set, its files elsewhere, a page."""
    places = {n: disk.path(n) for n in ("run", "train", "data", "dlio")}
    page = disk.path("pages", "report.html")
    runs = (
        ["run", "-o", places["run"], "-V", "i=[1,2,3]", "-P",
         'exp.command=["sh", "-c", "echo some words"]', "-P",
         "exp.log_file=%s/${i}.log" % disk.path("logs")],
        ["run", "-o", places["train"],
         "dataset.data_folder=" + places["data"],
         "output.folder=" + places["dlio"]] + TRAINING,
        ["report", places["run"], "--html", page],
    )
    os.makedirs(disk.path("pages"), exist_ok=True)
    fd = os.open(disk.at, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    for args in runs:
        code, _, err = run(args)
        t.check(code == 0, "%s: %d %s" % (args[0], code, err))
    places["logs"] = disk.path("logs")
    places["pages"] = disk.path("pages")
    before = {n: contents(p) for n, p in places.items()}
    for name, files in before.items():
        t.check(files, "nothing in %s" % name)
    disk.cut(with_names)
    disk.power_on()
    for name, path in places.items():
        compare(t, name, before[name], path)
        shutil.rmtree(path, ignore_errors=True)


def under_way(t, disk):
    """The cut comes in the middle: what was said to be ok is there, and the
    rest is made when the run goes on."""
    d = disk.path("run")
    p = start(["run", "-o", d, "-V", "i=%s" % list(range(200)), "-P",
               'exp.command=["sh", "-c", "echo words; sleep 0.02"]',
               "--progress", "plain", "-v"])
    events = os.path.join(d, "events.ndjson")

    def ended():
        try:
            with open(events, encoding="utf-8") as f:
                lines = [json.loads(x) for x in f if x.endswith("\n")]
        except OSError:
            return []
        return [x["id"] for x in lines if x["event"] == "experiment_end"]

    t.check(wait_until(lambda: len(ended()) >= 20), "it does not run")
    p.send_signal(signal.SIGSTOP)
    said = ended()
    disk.cut(True)
    p.send_signal(signal.SIGCONT)
    code = p.wait(timeout=60)
    p.stdout.close()
    p.stderr.close()
    t.check(code != 0, "a disk that is gone went unnoticed")
    disk.power_on()
    for one in said:
        path = os.path.join(d, "experiments", one)
        try:
            with open(os.path.join(path, "result.json"),
                      encoding="utf-8") as f:
                t.check(json.load(f)["status"] == "ok", "%s: status" % one)
            with open(os.path.join(path, "params.json"),
                      encoding="utf-8") as f:
                json.load(f)
            with open(os.path.join(path, "log.txt"), encoding="utf-8") as f:
                t.check(f.read() == "words\n", "%s: log" % one)
        except (OSError, ValueError) as e:
            t.check(False, "%s was ok: %s" % (one, e))
    for path in glob.glob(d + "/experiments/*/result.json"):
        t.check(os.path.getsize(path) > 0, "%s is empty" % path)
    code, out, err = run(["run", "--resume", d, "-q"])
    t.check(code == 0 and "200 ok" in out, "resume: %d %s" % (code, err))
    shutil.rmtree(d)


def not_cared_for(t, disk):
    """run.fsync=false: nothing is promised; what is lost is told and made."""
    data = disk.path("data")
    args = ["generate", "dataset.data_folder=" + data,
            "dataset.num_files_train=20", "dataset.record_length_bytes=65536",
            "dataset.format=npy"]
    code, _, err = run(args + ["run.fsync=false"])
    t.check(code == 0, "generate: %s" % err)
    disk.cut(True)
    disk.power_on()
    empty = [n for n in glob.glob(data + "/*/*.npy") if not os.path.getsize(n)]
    t.check(empty, "the cut took nothing: this test proves nothing")
    code, out, err = run(args + ["--force"])
    t.check(code == 0, "make it again: %d %s" % (code, err))
    before = contents(data)
    disk.cut(False)
    disk.power_on()
    compare(t, "data made again", before, data)
    # One that is cut off is seen, named, and made again.
    victim = data + "/train/" + sorted(os.listdir(data + "/train"))[3]
    os.truncate(victim, 0)
    code, out, err = run(args)
    t.check(code == 5 and os.path.basename(victim) in err,
            "an empty file: %d %s%s" % (code, out, err))
    code, out, err = run(args + ["--resume", "--verify"])
    t.check(code == 0 and contents(data) == before,
            "made again: %d %s%s" % (code, out, err))


def main():
    t = Scratch()
    disk = Disk(t)
    if not shutil.which("mkfs.ext4") or not disk.make():
        print("SKIP: a power cut: no rights to mount; run it as root")
        t.dir.cleanup()
        sys.exit(77)
    try:
        finished(t, disk, False)
        finished(t, disk, True)
        under_way(t, disk)
        not_cared_for(t, disk)
    finally:
        disk.umount()
    t.finish("what was done outlives a power cut (%s)" %
             os.path.basename(PRONY))


main()
