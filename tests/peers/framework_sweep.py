#!/usr/bin/python3
"""One sweep over the native engine, PyTorch and TensorFlow, two models and two
batch sizes: twelve experiments that really run, in one run directory, with one
report. Frameworks are looked for in $PRONY_TORCH_PYTHON, $PRONY_TF_PYTHON, this
interpreter and build/venv ("make python-deps"); those that are not there are
left out, and without any of them, or without oneDNN, the test is skipped."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.path.abspath(os.environ.get("PRONY")
                        or os.path.join(SRC, "build", "prony"))
VENV = os.path.join(SRC, "build", "venv", "bin", "python")
MODULES = {"pytorch": ("torch", "PRONY_TORCH_PYTHON"),
           "tensorflow": ("tensorflow", "PRONY_TF_PYTHON")}
MODELS, BATCHES = ["lenet", "deep_mnist"], [4, 8]
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
failures = []


def check(ok, what):
    if not ok:
        failures.append(what)
        print("FAIL: " + what)


def has(python, module):
    code = "import importlib.util as u, sys; sys.exit(not u.find_spec(%r))"
    return bool(python) and os.access(python, os.X_OK) and subprocess.run(
        [python, "-c", code % module], check=False).returncode == 0


def find_frameworks():
    """Those that are there; their variables are set for prony."""
    there = []
    for name, (module, variable) in MODULES.items():
        for python in (os.environ.get(variable), sys.executable, VENV):
            if has(python, module):
                os.environ[variable] = python
                there.append(name)
                break
        else:
            print("SKIP: no %s; \"make python-deps\"" % name)
    return there


def look_at(doc, frameworks):
    seen = set()
    for e in doc["experiments"]:
        p, r = e["params"], e["results"]
        name = "%s %s %s" % (p["exp.framework"], p["exp.model"],
                             p["exp.replica_batch"])
        seen.add(name)
        check(e["status"] == "ok", "%s: %s" % (name, e.get("reason")))
        check(r.get("time", 0) > 0 and r.get("throughput", 0) > 0,
              name + ": no time or throughput")
        check(r.get("loss", -1) >= 0, name + ": no loss")
        batch = p["exp.replica_batch"]
        if r.get("time"):
            rate = 1000 * batch / r["time"]
            check(abs(rate / r["throughput"] - 1) < .05,
                  "%s: %g items/s, %g by its time"
                  % (name, r["throughput"], rate))
    check(len(seen) == len(frameworks) * len(MODELS) * len(BATCHES),
          "only %s" % sorted(seen))


def report(folder, frameworks):
    """One report of all of them, in rows that can be compared."""
    got = subprocess.run([PRONY, "report", "--format", "json", folder],
                         capture_output=True, text=True, check=False)
    check(got.returncode == 0, "report: exit %d: %s"
          % (got.returncode, got.stderr))
    rows = json.loads(got.stdout)["experiments"] if got.stdout else []
    count = frameworks * len(MODELS) * len(BATCHES)
    check(len([r for r in rows if r.get("throughput", 0) > 0]) == count
          and len({r.get("exp.framework") for r in rows}) == frameworks,
          "report: %d rows for %d: %s" % (len(rows), count, rows))


def main():
    frameworks = find_frameworks()
    doctor = subprocess.run([PRONY, "doctor"], capture_output=True, text=True,
                            check=False).stdout
    if not frameworks or not any(
            line.startswith("oneDNN") and " ok " in line
            for line in doctor.splitlines()):
        print("1..0 # SKIP no PyTorch or TensorFlow, or no oneDNN; "
              "\"make python-deps\", libdnnl-dev")
        sys.exit(77)
    frameworks.insert(0, "native")
    where = tempfile.mkdtemp(prefix="prony-sweep-")
    got = subprocess.run(
        [PRONY, "run", "-o", os.path.join(where, "run"), "--format", "json",
         "--tiny", "-V", "exp.framework=" + json.dumps(frameworks),
         "-V", "exp.model=" + json.dumps(MODELS),
         "-V", "exp.replica_batch=" + json.dumps(BATCHES),
         "-P", "exp.num_batches=3", "-P", "nn.threads=1",
         "-P", "nn.peak=false", "-P", "exp.timeout=120"],
        capture_output=True, text=True, check=False, timeout=900)
    check(got.returncode == 0, "exit %d: %s" % (got.returncode, got.stderr))
    if got.stdout:
        look_at(json.loads(got.stdout), frameworks)
    report(os.path.join(where, "run"), len(frameworks))
    logs = glob.glob(os.path.join(where, "run/experiments/*/monitor.ndjson"))
    check(logs, "the machine was not watched")
    shutil.rmtree(where)
    print("framework_sweep: %d frameworks" % len(frameworks))
    sys.exit(bool(failures))


main()
