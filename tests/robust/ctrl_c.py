"""Ctrl-C ends whatever prony is doing, and the exit status says by which
signal: making data, searching, probing, training, waiting for slow storage."""

import glob
import os
import random
import signal
import subprocess
import time

from _robust import Scratch, start

BOUND_S = 60  # a busy machine; what does not react takes longer, or for ever
EMULATE = ["exp.workload=emulate", "storage.engine=null", "dataset.format=npy",
           "dataset.num_files_train=1000", "train.computation_time=0.5"]
DATA = ["exp.workload=emulate", "dataset.format=npz",
        "dataset.num_files_train=200",
        "dataset.record_length_bytes=100000000"]
CASES = {
    "generate": ["generate"] + DATA,
    "one large file": ["generate", "exp.workload=emulate",
                       "dataset.format=tfrecord", "dataset.num_files_train=1",
                       "dataset.num_samples_per_file=10000000",
                       "dataset.record_length_bytes=2000"],
    "run": ["run"] + EMULATE,
    "slow storage": ["run"] + EMULATE + ["storage.latency=600"],
    "capacity": ["capacity"] + EMULATE + ["storage.throttle=1M"],
    "data of capacity": ["capacity", "train.computation_time=0.5"] + DATA,
    "probe": ["probe"] + EMULATE,
    # One step takes minutes, and nobody may kill it before.
    "native": ["run", "-P", "exp.workload=native", "-P", "exp.model=resnet50",
               "-P", "exp.replica_batch=256", "-P", "exp.grace=300",
               "-P", "nn.peak=false"],
    "demo": ["demo"],
}


def interrupt(t, what, args, delay):
    """The first Ctrl-C is enough."""
    folder = t.path("work")
    os.makedirs(folder, exist_ok=True)
    p = start(args, cwd=folder, start_new_session=True)
    time.sleep(delay)
    if p.poll() is not None:
        t.check(False, "%s: ended by itself, status %d: %s"
                % (what, p.returncode, p.communicate()[1].decode()))
        return
    os.kill(p.pid, signal.SIGINT)
    try:
        p.communicate(timeout=BOUND_S)
        t.check(p.returncode in (130, -signal.SIGINT),
                "%s after %.1f s: status %d" % (what, delay, p.returncode))
    except subprocess.TimeoutExpired:
        t.check(False, "%s after %.1f s: does not stop" % (what, delay))
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
    subprocess.run(["rm", "-rf", folder], check=True)


def doctor(t):
    """Interrupted while it measures, which takes some milliseconds: if all
    tries come too late, as on a busy machine, that is said."""
    for i in range(100):
        temp = t.path("temp%d" % i)
        os.mkdir(temp)
        p = start(["doctor"], env=dict(os.environ, TMPDIR=temp))
        while (p.poll() is None and
               not glob.glob(temp + "/prony-doctor.*/events.ndjson")):
            pass
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=BOUND_S)
        t.check(p.returncode in (0, 130, -signal.SIGINT),
                "doctor: status %d" % p.returncode)
        if p.returncode == 130:
            return
    print("doctor was through before each of 100 interrupts")


def main():
    t = Scratch()
    r = random.Random(int(os.environ.get("PRONY_SEED", "0")) or None)
    for what, args in CASES.items():
        for delay in (r.uniform(0.01, 0.3), r.uniform(0.3, 3)):
            interrupt(t, what, args, delay)
    doctor(t)
    t.finish("Ctrl-C ended %d verbs and loads" % (len(CASES) + 1))


main()
