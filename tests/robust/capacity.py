"""The capacity of a storage whose rate is known: the number found is the one
computed, give or take one, every time. And searches that are killed or
interrupted at any moment go on to the same answer."""

import concurrent.futures
import json
import math
import os
import random
import signal
import time

from _robust import Scratch, processes_with, run, start

SEARCHES = int(os.environ.get("PRONY_SEARCHES", "12"))
AT_ONCE = 6


class Case:
    """A storage that keeps a known number of accelerators busy."""

    def __init__(self, number):
        r = random.Random(number)
        self.number = number
        self.au = r.choice((0.9, 0.9, 0.8, 0.85))
        self.seconds = r.choice((0.03, 0.04, 0.05))
        self.batch = r.choice((1, 2, 4))
        self.side = r.choice((200, 250, 316))
        self.threads = r.choice((1, 2, 4))
        self.files = number % 5 == 4    # real ones
        busy = r.randint(2, 14) + r.uniform(0.3, 0.7)
        self.sample = self.side ** 2 + 128  # a npy file of one sample
        need = self.sample * self.batch / self.seconds * self.au
        self.rate = int(need * busy)
        self.want = math.floor(self.rate / need)

    def args(self, data):
        values = {
            "exp.workload": "emulate", "dataset.format": "npy",
            "dataset.data_folder": data,
            "dataset.record_length_bytes": self.side ** 2,
            "storage.engine": "pread" if self.files else "null",
            "storage.throttle": self.rate, "reader.data_loader": "pytorch",
            "reader.batch_size": self.batch,
            "reader.read_threads": self.threads,
            "train.computation_time": self.seconds,
        }
        return ["%s=%s" % row for row in values.items()] + [
            "--au", str(self.au), "--steps", "30", "-q", "--format", "json"]

    def __str__(self):
        return "search %d (au %g, %g s, %d × %d bytes, %d threads, %s, " \
            "%d bytes/s)" % (self.number, self.au, self.seconds, self.batch,
                             self.sample, self.threads,
                             "files" if self.files else "null", self.rate)


def search(t, number):
    """One search; what is wrong with it, or None."""
    case = Case(number)
    where = t.path("search%d" % number)
    code, out, err = run(["capacity", "-o", where]
                         + case.args(t.path("data%d" % number)))
    if code:
        return "%s: exit %d: %s" % (case, code, err)
    found = json.loads(out)
    if not found["done"] or abs(found["capacity"] - case.want) > 1:
        return "%s: found %s, computed %d: %s" % (
            case, found["capacity"], case.want,
            [(p["accelerators"], p["repeats"], round(p["utilisation"], 3))
             for p in found["points"]])
    # A machine that does other things meanwhile says so.
    if found["limit"]["kind"] not in ("throttle", "disturbance"):
        return "%s: limited by %s" % (case, found["limit"])
    for name in ("capacity.json", "capacity.svg", "target.json"):
        if not os.path.getsize(os.path.join(where, name)):
            return "%s: no %s" % (case, name)
    return None


def whole(t, where, what):
    """capacity.json is whole at any moment."""
    try:
        with open(os.path.join(where, "capacity.json"), encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError) as e:
        t.check(False, "%s: capacity.json: %s" % (what, e))
        return {"trials": [], "done": False}


def stopped(t, number, signo, r):
    """Stopped again and again, with at least one more trial in between."""
    case = Case(number)
    where = t.path("stopped%d" % number)
    marker = "prony-capacity-%d-%d" % (os.getpid(), number)
    env = dict(os.environ, PRONY_TEST_MARKER=marker)
    args = ["capacity", "-o", where] + case.args(t.path("data%d" % number))
    names, stops = [], 0
    for _ in range(60):
        p = start(args, env=env)
        try:
            p.communicate(timeout=r.uniform(0.3, 2.5))
        except Exception:  # pylint: disable=broad-except
            p.send_signal(signo)
            p.communicate(timeout=30)
            stops += 1
            # It may have come to its end just before.
            if signo == signal.SIGINT:
                t.check(p.returncode in (0, 130),
                        "interrupted: exit %d" % p.returncode)
        if not os.path.exists(os.path.join(where, "capacity.json")):
            continue
        found = whole(t, where, case)
        have = [one["name"] for one in found["trials"]]
        t.check(have[:len(names)] == names, "%s: trials were lost" % case)
        names = have
        if found["done"]:
            break
        args = ["capacity", "--resume", where, "-q", "--format", "json"]
    t.check(found["done"], "%s: not done after %d stops" % (case, stops))
    t.check(abs(found.get("capacity", -9) - case.want) <= 1,
            "%s: found %s after %d stops, computed %d"
            % (case, found.get("capacity"), stops, case.want))
    t.check(sorted(os.listdir(os.path.join(where, "trials"))) == names,
            "%s: folders of no trial" % case)
    t.check(not processes_with(marker), "%s: processes are left" % case)
    return stops


def main():
    t = Scratch()
    r = random.Random(int(os.environ.get("PRONY_SEED", "5")))
    begin = time.monotonic()
    # They wait most of the time: several at once do not disturb each other.
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        killed = pool.submit(stopped, t, 101, signal.SIGKILL, r)
        asked = pool.submit(stopped, t, 102, signal.SIGINT, r)
        wrong = [w for w in pool.map(lambda n: search(t, n), range(SEARCHES))
                 if w]
        stops = killed.result() + asked.result()
    for one in wrong:
        t.check(False, one)
    print("%d of %d searches found what was computed, %.0f s"
          % (SEARCHES - len(wrong), SEARCHES, time.monotonic() - begin))
    t.finish("searches for the capacity: %d of known rates, two stopped %d "
             "times" % (SEARCHES, stops))


main()
