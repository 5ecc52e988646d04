#!/usr/bin/python3
"""DLIO's and MLPerf Storage's workload files: every one of them plans as it
is, and those that we bundle say the same as DLIO's.

Usage: dlio_workloads.py [--prony PROGRAM]

The peers' files are looked for in $PRONY_PEERS, else in ../shared/peers beside
the project ($SRC). One line of TAP for each file. Where ours differ on purpose:

  model.model_size   not a key of DLIO's: model_size_bytes is, and ours has it
                     where the file means one model
  workflow.debug     not a key of DLIO's
  a slash at the end of a folder
"""
import argparse
import json
import os
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("SKIP: no PyYAML; install python3-yaml")
    sys.exit(77)

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PEERS = os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers")
DEAD = {"model.model_size", "workflow.debug"}
BUNDLED = {
    "bert_v100", "cosmoflow_a100", "cosmoflow_h100", "cosmoflow_v100",
    "default", "dlrm", "megatron_deepspeed_LLNL", "resnet50_a100",
    "resnet50_h100", "resnet50_tf", "resnet50_v100", "unet3d_a100",
    "unet3d_h100", "unet3d_v100",
}


def flat(tree, prefix=""):
    """{"dataset.format": "npz", …}"""
    found = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            found.update(flat(value, prefix + key + "."))
        else:
            found[prefix + key] = (value.rstrip("/")
                                   if isinstance(value, str) else value)
    return found


def load(path):
    with open(path, encoding="utf-8") as f:
        return flat(yaml.safe_load(f))


def plan(prony, target):
    """What is set by a plan of one experiment, or a text that says why not."""
    got = subprocess.run([prony, "plan", target, "--format", "json"],
                         stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, timeout=60, check=False,
                         env=dict(os.environ, PRONY_SHARE=SRC))
    if got.returncode:
        return "status %d: %s" % (got.returncode, got.stderr.strip())
    experiments = json.loads(got.stdout)["experiments"]
    if len(experiments) != 1:
        return "%d experiments" % len(experiments)
    return experiments[0]["params"]


def check_plan(prony, target, keys):
    """What is wrong with the plan of a file that has these keys."""
    params = plan(prony, target)
    if isinstance(params, str):
        return [params]
    wrong = []
    if params.get("exp.workload") != "emulate":
        wrong.append("exp.workload is %r" % params.get("exp.workload"))
    for key, value in keys.items():
        name = "emulate.framework" if key == "framework" else key
        if key.startswith("storage.storage_options.") or value is None:
            continue
        got = params.get(name)
        if isinstance(got, str):
            got = got.rstrip("/")
        if isinstance(value, list) and isinstance(got, str):
            value = " ".join(str(v) for v in value)
        if got != value:
            wrong.append("%s is %r, in the file %r" % (name, got, value))
    return wrong


def check_bundled(name, theirs):
    """How our file differs from theirs."""
    ours = load(os.path.join(SRC, "workloads", name + ".yaml"))
    wrong = []
    for key in sorted((set(theirs) | set(ours)) - DEAD
                      - {"model.model_size_bytes"}):
        if theirs.get(key) != ours.get(key):
            wrong.append("%s is %r, DLIO's is %r" % (
                key, ours.get(key), theirs.get(key)))
    size = theirs.get("model.model_size_bytes", theirs.get("model.model_size"))
    if ours.get("model.model_size_bytes", size) != size:
        wrong.append("model.model_size_bytes is not %r" % size)
    return wrong


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def line(self, name, wrong):
        self.count += 1
        self.failed += bool(wrong)
        print("%sok %d - %s" % ("not " if wrong else "", self.count, name))
        for text in wrong:
            print("# " + text)

    def finish(self):
        print("1..%d" % self.count)
        sys.exit(bool(self.failed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prony", default=os.environ.get("PRONY")
                        or os.path.join(SRC, "build", "prony"))
    prony = parser.parse_args().prony
    tap = Tap()

    # A test that compares nothing must not pass.
    assert check_bundled("dlrm", {"dataset.format": "npz"})
    assert check_plan(prony, "dlrm", {"dataset.format": "npz"})
    for name in sorted(BUNDLED):
        keys = load(os.path.join(SRC, "workloads", name + ".yaml"))
        tap.line("plans by name: " + name, check_plan(prony, name, keys))
    if not os.path.isdir(PEERS):
        print("SKIP: no reference data of other tools; PRONY_PEERS=FOLDER "
              "says where they are")
        sys.exit(1 if tap.failed else 77)
    for folder in ("dlio/workload", "mlperf_storage"):
        path = os.path.join(PEERS, folder)
        names = sorted(n for n in os.listdir(path) if n.endswith(".yaml"))
        if not names:
            tap.line("files in " + folder, ["none"])
        for name in names:
            file = os.path.join(path, name)
            tap.line("plans: %s/%s" % (folder, name),
                     check_plan(prony, file, load(file)))
    for name in sorted(BUNDLED):
        theirs = load(os.path.join(PEERS, "dlio/workload", name + ".yaml"))
        tap.line("as DLIO's: " + name, check_bundled(name, theirs))
    tap.finish()


main()
