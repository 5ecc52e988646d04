"""A measurement that something else disturbs says so first, and does not blame
the storage: the process stood still for 3 s, whatever else this machine does
meanwhile."""

import glob
import json
import os
import signal
import time

from _robust import Scratch, run, start, wait_until

STOP_S = 3.0
TRAINING = ["exp.workload=emulate", "exp.accelerators=2",
            "dataset.format=npz", "dataset.num_files_train=400",
            "dataset.record_length_bytes=10000", "reader.batch_size=1",
            "train.computation_time=0.04"]


def bodies(pid):
    """The processes below one."""
    found = []
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        try:
            with open(path, encoding="ascii") as f:
                for child in map(int, f.read().split()):
                    found += [child] + bodies(child)
        except OSError:
            pass
    return found


def steps_done(directory):
    """Whether the training has made some steps."""
    for path in glob.glob(os.path.join(directory, "experiments/*/log.txt")):
        with open(path, encoding="utf-8") as f:
            return "Starting epoch 1" in f.read()
    return False


def stopped(t, data):
    d = t.path("stopped")
    p = start(["run", "-o", d, "dataset.data_folder=" + data] + TRAINING)
    if not t.check(wait_until(lambda: steps_done(d)), "no epoch began"):
        p.kill()
        return
    below = bodies(p.pid)
    for pid in below:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(STOP_S)
    for pid in below:
        os.kill(pid, signal.SIGCONT)
    out, err = p.communicate(timeout=120)
    t.check(p.returncode == 0, "exit %d: %s" % (p.returncode, err.decode()))
    path = glob.glob(os.path.join(d, "experiments/*/result.json"))[0]
    with open(path, encoding="utf-8") as f:
        results = json.load(f)["results"]
    # The stop itself makes the gap; a tick is a tenth of a second.
    t.check(results.get("stall_max_s", 0) > STOP_S - 0.5,
            "longest stall: %s" % results.get("stall_max_s"))
    t.check(results.get("disturbed") is True, "disturbed: %s"
            % results.get("disturbed"))
    t.check(results["verdict"].startswith("disturbed: "),
            "verdict: %s" % results["verdict"])
    t.check("keeps" not in results["verdict"],
            "it blames the storage: %s" % results["verdict"])
    t.check(": disturbed: " in out.decode(), "not printed: %s" % out.decode())


def main():
    t = Scratch()
    data = t.path("data")
    code, _, err = run(["generate", "dataset.data_folder=" + data] + TRAINING)
    t.check(code == 0, "generate: %s" % err)
    stopped(t, data)
    t.finish("a process that stood still for %g s does not blame the storage"
             % STOP_S)


main()
