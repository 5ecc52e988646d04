"""What the tests of a hostile world share: starting prony, looking for
processes of an experiment, checking a run directory."""

import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time

PRONY = os.environ["PRONY"]


class Scratch:
    """A folder that is removed at the end; failures are counted."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory(prefix="prony-robust-")
        self.failed = 0

    def path(self, *names):
        return os.path.join(self.dir.name, *names)

    def check(self, good, text):
        if not good:
            self.failed += 1
            print("FAIL: " + text)
        return good

    def finish(self, text):
        self.dir.cleanup()
        print(text)
        sys.exit(1 if self.failed else 0)


def start(args, **more):
    return subprocess.Popen([PRONY] + args, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            **more)


def run(args, **more):
    """Exit status, stdout and stderr of prony run to its end."""
    p = start(args, **more)
    out, err = p.communicate(timeout=120)
    return p.returncode, out.decode(), err.decode()


MANIFEST = ".prony-dataset.json"


def tree(folder):
    """Names and hashes of what is in a data set, the manifest aside."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if name != MANIFEST:
                with open(path, "rb") as f:
                    found[os.path.relpath(path, folder)] = hashlib.sha256(
                        f.read()).hexdigest()
    return found


def processes_with(marker):
    """Pids whose environment or arguments hold the marker."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for part in ("environ", "cmdline"):
            try:
                with open("/proc/%s/%s" % (pid, part), "rb") as f:
                    if marker.encode() in f.read():
                        found.append(int(pid))
                        break
            except OSError:
                pass
    return found


def wait_until(condition):
    """Long, for a busy machine: only what never comes true takes all of it."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return condition()


def progress_of(where):
    """What a training says of itself; steps are counted as batches."""
    for path in glob.glob(where + "/experiments/*/progress.json"):
        try:
            with open(path, encoding="utf-8") as f:
                return f.read()
        except OSError:
            pass
    return ""


def check_run(t, directory, total, statuses=("ok",)):
    """Every experiment of the plan has one whole result; no file is torn."""
    with open(os.path.join(directory, "plan.json")) as f:
        plan = json.load(f)
    ids = [e["id"] for e in plan["experiments"]]
    t.check(len(ids) == total, "plan has %d experiments" % len(ids))
    for one in ids:
        folder = os.path.join(directory, "experiments", one)
        try:
            with open(os.path.join(folder, "result.json")) as f:
                result = json.load(f)
            with open(os.path.join(folder, "params.json")) as f:
                json.load(f)
        except (OSError, ValueError) as e:
            t.check(False, "%s: %s" % (one, e))
            continue
        t.check(result["id"] == one, "%s: foreign result" % one)
        t.check(result["status"] in statuses,
                "%s: status %s" % (one, result["status"]))
        half = [n for n in os.listdir(folder) if n.startswith(".")]
        t.check(not half, "%s: half-made %s" % (one, half))
    known = set(os.listdir(os.path.join(directory, "experiments")))
    t.check(known <= set(ids), "folders of no experiment")
    check_events(t, directory, set(ids))


def check_events(t, directory, ids):
    ends = {}
    with open(os.path.join(directory, "events.ndjson"), "rb") as f:
        text = f.read()
    t.check(text.endswith(b"\n"), "events end in the middle of a line")
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            t.check(False, "torn event line %r" % line[:80])
            continue
        if event["event"] == "experiment_end":
            ends[event["id"]] = ends.get(event["id"], 0) + 1
    t.check(set(ends) == ids, "events of %d of %d experiments ended"
            % (len(ends), len(ids)))
