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
    if not shutil.which(PROGRAM):
        _peer.cannot("no program '%s'; set DLIO to DLIO's dlio_benchmark"
                     % PROGRAM)
    if not os.path.exists(CONFIG):
        _peer.cannot("no file '%s'" % CONFIG)
    _peer.dlio_workload(CONFIG, os.path.join(DIR, "dlio-config"))


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
    made = [os.path.getsize(name)
            for name in _peer.files(os.path.join(DATA, "train"))]
    if len(made) != 32 or min(made) < 20e6:
        sys.exit("DLIO made %d files, the smallest of %d bytes"
                 % (len(made), min(made)))
    shutil.rmtree(DATA)
    return seconds, whole - seconds


prepare()
_peer.serve(work)
