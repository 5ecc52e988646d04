"""dlio_generate.py PROGRAM CONFIG DIR: DLIO makes the data set of a workload
file below DIR, which is then removed. Answers with the seconds from its line
"Starting data generation" to "Generation done", and those of everything else:
imports, configuration, the end."""

import datetime
import os
import re
import shutil
import subprocess
import sys
import time

import _peer

PROGRAM, CONFIG, DIR = sys.argv[1:]
DATA = os.path.join(DIR, "dlio-data")


def prepare():
    """Hydra finds a workload by its name in a folder called workload."""
    if not shutil.which(PROGRAM):
        _peer.cannot("no program '%s'; set DLIO to DLIO's dlio_benchmark"
                     % PROGRAM)
    if not os.path.exists(CONFIG):
        _peer.cannot("no file '%s'" % CONFIG)
    folder = os.path.join(DIR, "dlio-config", "workload")
    os.makedirs(folder)
    shutil.copy(CONFIG, os.path.join(folder, "bench.yaml"))


def moment(text, what):
    found = re.search(r"(\d{4}-\S+) " + what, text)
    if not found:
        sys.exit("DLIO did not say '%s':\n%s" % (what, text))
    return datetime.datetime.fromisoformat(found.group(1))


def work():
    start = time.perf_counter()
    run = subprocess.run(
        [PROGRAM, "--config-dir", os.path.join(DIR, "dlio-config"),
         "workload=bench", "++workload.workflow.generate_data=True",
         "++workload.workflow.train=False",
         "++workload.dataset.data_folder=" + DATA,
         "hydra.run.dir=" + os.path.join(DIR, "dlio-run")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=DIR,
        check=False)
    whole = time.perf_counter() - start
    seconds = (moment(run.stdout, "Generation done") -
               moment(run.stdout, "Starting data generation")).total_seconds()
    made = len(os.listdir(os.path.join(DATA, "train")))
    if made != 32:
        sys.exit("DLIO made %d files" % made)
    shutil.rmtree(DATA)
    return seconds, whole - seconds


prepare()
_peer.serve(work)
