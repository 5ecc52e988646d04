#!/usr/bin/python3
"""prony.torch, by its name `benchy`, with every PyTorch that is there: the one
of build/venv or $PRONY_TORCH_PYTHON, and an older one of $PRONY_TORCH1_PYTHON
or of Debian. The cases are those of _torch_cases.py."""

import json
import os
import subprocess
import sys

from _python import FEW, SRC, VENV, environment, has, need_extension, skip
from _tap import check, end

need_extension()
CASES = os.path.join(SRC, "tests", "peers", "_torch_cases.py")
# How a case ends where it does not just end: status, in its stdout, stderr.
ENDS = {
    "ends_the_script": (0, "Tests completed.... exiting.", ""),
    "broken_worker": (1, "BENCHY::IO_WARMUP_0", "ValueError: bad sample"),
}
CONFIGS = {
    "": FEW,
    "goes_on": FEW.replace("global:",
                           "global:\n        exit_after_tests: False"),
}


def results(python):
    """(version, what became of each case), or None without PyTorch."""
    if not has(python, "torch"):
        return None
    done = subprocess.run([python, CASES, json.dumps(CONFIGS)], text=True,
                          capture_output=True, check=False, timeout=500,
                          env=environment())
    try:
        return json.loads(done.stdout)
    except ValueError:
        check(False, "the cases run in %s" % python, done.stderr)
        return None


def judge(version, name, ended):
    got, out, err, result = ended
    want, in_out, in_err = ENDS.get(name, (0, "", ""))
    check(got == want and in_out in out and in_err in err,
          "torch %s: %s" % (version, name.replace("_", " ")),
          "exit status %d\n%s%s" % (got, out, err))
    if name == "ends_the_script":
        check(result and len(json.loads(result)["FULL"]["rates"]) == 3
              and out.rstrip().endswith("exiting."),
              "torch %s: its result is whole, its last line benchy's"
              % version, out + err)


seen = set()
for python in (os.environ.get("PRONY_TORCH_PYTHON"), VENV,
               os.environ.get("PRONY_TORCH1_PYTHON"), "/usr/bin/python3"):
    version, cases = results(python) or (None, {})
    if version in seen:
        continue
    for name, ended in cases.items():
        judge(version, name, ended)
    seen |= {version} - {None}
if not seen:
    skip("no PyTorch; \"make python-deps\"")
if len(seen) < 2:
    check(True, "an older PyTorch # SKIP only %s is here; install "
          "Debian's python3-torch, or set PRONY_TORCH1_PYTHON" % "".join(seen))
sys.exit(end())
