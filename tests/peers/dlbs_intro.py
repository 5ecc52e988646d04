#!/usr/bin/python3
"""The command line of DLBS's introduction, as it stands: three frameworks in
containers on one, two and four GPUs. It is accepted; on a machine without GPUs
and docker everything that is missing is said before anything starts.

Usage: dlbs_intro.py

The program is $PRONY. The arguments are those of DLBS's own golden plan where
that is there ($PRONY_PEERS, else ../shared/peers beside the project), else the
ones below. One line of TAP for each matter.
"""
import json
import os
import subprocess
import sys
import tempfile

from _tap import check, end

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.path.abspath(os.environ.get("PRONY")
                        or os.path.join(SRC, "build", "prony"))
GOLDEN = os.path.join(os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers"), "dlbs", "golden", "plans",
    "cli_intro_doc.json")

ARGS = [
    '-Vexp.framework=["mxnet", "tensorflow", "caffe2"]',
    '-Vexp.gpus=["0", "0,1", "0,1,2,3"]', '-Vexp.model=["resnet50"]',
    '-Vexp.replica_batch=[16]', '-Pexp.docker=true',
    '-Pexp.num_warmup_batches=10', '-Pexp.num_batches=100',
    '-Pexp.phase="training"',
    '-Pexp.log_file="${BENCH_ROOT}/logs/${exp.framework}/'
    '${exp.model}_${exp.num_gpus}_${exp.effective_batch}.log"',
    '-Pmxnet.docker_image="hpe/mxnet:cuda9-cudnn7"',
    '-Pcaffe2.docker_image="hpe/caffe2:cuda8-cudnn6"',
    '-Ptensorflow.docker_image="tensorflow:17.11"']


def arguments():
    """What DLBS was called with, without the word and the id it was given."""
    if not os.path.exists(GOLDEN):
        return ARGS
    with open(GOLDEN) as f:
        given = json.load(f)["args"]
    return [a for a in given[1:] if not a.startswith("-Pexp.id=")]


def images(args):
    return [json.loads(a.split("=", 1)[1]) for a in args
            if ".docker_image=" in a]


def run(folder, verb, args, bench_root=None):
    """A machine without docker and GPUs: PATH is a folder of ours."""
    env = {"PATH": os.path.join(folder, "bin"), "HOME": folder,
           "LC_ALL": "C.UTF-8", "PRONY_NVML": os.path.join(folder, "none")}
    if bench_root:
        env["BENCH_ROOT"] = bench_root
    return subprocess.run([PRONY, verb] + args + ["--log-level=info"],
                          cwd=folder, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", timeout=60)


def put_program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def refused(folder, args):
    """All that is missing is in one list, and nothing was made."""
    for root in (None, os.path.join(folder, "bench")):
        where = "with" if root else "without"
        done = run(folder, "run", args, root)
        text = done.stderr
        check(done.returncode == 3, "refused %s BENCH_ROOT" % where, text)
        wanted = ["'nvidia-docker' is not on this machine (all 9",
                  "GPUs 0, 1, 2, 3 are missing: this machine has none (all 9",
                  "exp.framework=mxnet needs a launcher (3 ",
                  "exp.framework=caffe2 needs a launcher (3 "]
        wanted += ["image '%s' cannot be looked for without 'nvidia-docker' "
                   "(3 " % name for name in images(args)]
        missing = [w for w in wanted if w not in text]
        check(not missing, "all that is missing is said %s BENCH_ROOT" % where,
              "not said: %s\n%s" % (missing, text))
        check(os.listdir(folder) == ["bin"], "nothing was made", text)


def listed(folder, args):
    done = run(folder, "validate", args + ["--format", "json"])
    doc = json.loads(done.stdout)
    kinds = sorted(lack["kind"] for lack in doc["lacks"])
    check(done.returncode == 3 and not doc["ok"] and doc["experiments"] == 9
          # Our program in TensorFlow has one replica; a launcher may have more.
          and kinds == ["GPU", "command", "command", "config", "config",
                        "container", "image", "image", "image"],
          "the same as JSON", json.dumps(doc, indent=1))


def mended(folder, args):
    """With docker and launchers the GPUs alone are left, and without GPUs in
    the plan nothing is; each image was asked for once."""
    put_program(folder, "bin/nvidia-docker",
                'echo "$@" >> "%s/asked"\n' % folder)
    script = put_program(folder, "bin/launcher", "exit 0\n")
    args = args + ["-P%s.launcher=%s" % (name, script)
                   for name in ("mxnet", "caffe2", "tensorflow")]
    done = run(folder, "run", args)
    check(done.returncode == 4 and "GPUs 0, 1, 2, 3 are" in done.stderr
          and "image" not in done.stderr and "launcher" not in done.stderr,
          "with docker and launchers the GPUs are left", done.stderr)
    with open(os.path.join(folder, "asked")) as f:
        asked = f.read().splitlines()
    check(sorted(a.split()[-1] for a in asked) == sorted(images(args)),
          "each image was asked for once", "\n".join(asked))
    args = [a for a in args if not a.startswith("-Vexp.gpus")]
    done = run(folder, "validate",
               args + ['-Pexp.gpus=""', "-Pexp.docker_launcher=nvidia-docker"])
    check(done.returncode == 0 and "nothing is missing: 3" in done.stdout,
          "on processors nothing is missing", done.stdout + done.stderr)


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "bin"))
        refused(folder, args)
        listed(folder, args)
        mended(folder, args)
    return end()


if __name__ == "__main__":
    sys.exit(main())
