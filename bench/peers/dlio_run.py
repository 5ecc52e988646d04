"""dlio_run.py WORKERS PROGRAM CONFIG DIR DATA FORMAT: DLIO trains with the
files in DATA that are there already, as a workload file says, with so many
workers. Answers with the seconds a sample took in its fastest epoch, by its
own account, and those of everything else: imports, configuration, the end."""

import datetime
import json
import os
import shlex
import shutil
import subprocess
import sys
import time

import _peer

WORKERS, PROGRAM, CONFIG, DIR, DATA, FORMAT = sys.argv[1:]
COMMAND = shlex.split(PROGRAM)
NAME = "dlio-" + WORKERS
RUN = os.path.join(DIR, NAME, "run")


def prepare():
    if not COMMAND or not shutil.which(COMMAND[0]):
        _peer.cannot("no program '%s'; set PRONY_DLIO to DLIO's "
                     "dlio_benchmark" % PROGRAM)
    _peer.dlio_workload(CONFIG, os.path.join(DIR, NAME, "config"))


def moment(text):
    return datetime.datetime.fromisoformat(text)


def read_json(*names):
    """The first of the names that is there: versions differ in them."""
    for name in names:
        path = os.path.join(RUN, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                return json.load(f)
    sys.exit("DLIO wrote no %s" % " or ".join(names))


def epoch_seconds():
    """Seconds of each epoch's block of steps."""
    for epoch in read_json("per_epoch_stats.json",
                           "0_per_epoch_stats.json").values():
        block = epoch["block1"]
        yield (moment(block["end"]) - moment(block["start"])).total_seconds()


def samples():
    summary = read_json("summary.json")
    return summary["num_files_train"] * summary["num_samples_per_file"]


def work():
    shutil.rmtree(RUN, ignore_errors=True)
    start = time.perf_counter()
    run = subprocess.run(
        COMMAND + ["--config-dir", os.path.join(DIR, NAME, "config"),
                   "workload=bench",
                   "++workload.dataset.data_folder=" + DATA,
                   "++workload.dataset.format=" + FORMAT,
                   "++workload.reader.read_threads=" + WORKERS,
                   "hydra.run.dir=" + RUN],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        cwd=os.path.join(DIR, NAME), check=False)
    whole = time.perf_counter() - start
    if run.returncode:
        sys.exit("DLIO failed:\n" + run.stdout)
    epochs = list(epoch_seconds())
    return min(epochs) / samples(), whole - sum(epochs)


prepare()
_peer.serve(work)
