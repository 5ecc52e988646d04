#!/usr/bin/python3
"""Lambda's configs and tables, against a checkout of its repository.

It has no licence, so nothing of it is kept here; who has a checkout names it:

    PRONY_LAMBDA_CHECKOUT=path make check

All configs must load, with the arguments that bash gives them (it is asked,
where it is there: their scripts are sourced for that), and the six CSV files
must come out byte for byte. Where the checkout has its history, so must the
two of 2022, with the system list of that time. Exit status 77 without a
checkout.
"""
import ast
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.environ.get("PRONY") or os.path.join(SRC, "build", "prony")
CHECKOUT = os.environ.get("PRONY_LAMBDA_CHECKOUT")
OLD = "4799752e"  # the last commit whose tables have Mask R-CNN
CONFIGS, LOGS = 359, 9138

ASK = r"""
cd "$1" && source "$2" || exit 1
for v in $(compgen -v); do
    case $v in PyTorch_*_PARAMS)
        declare -n A=$v
        printf '%s\0' "@$v" "${A[@]}";;
    esac
done
printf '%s\0' "#" "$NUM_GPU" "${NUM_EXP:-1}"
"""

failed = 0


def check(ok, what):
    global failed
    print("%s - %s" % ("ok" if ok else "not ok", what))
    failed += not ok


def prony(*words):
    return subprocess.run([PRONY, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False,
                          env={**os.environ, "PRONY_DATA": ""})


def ask_bash(scripts, config):
    """{task: words}, GPUs and repeats, as bash has them after the script."""
    out = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", scripts, config],
        stdout=subprocess.PIPE, check=True,
        env={"PATH": "/usr/bin:/bin"}).stdout.decode().split("\0")[:-1]
    tasks, words = {}, None
    for word in out:
        if word.startswith("@PyTorch_"):
            words = tasks[word[1:-len("_PARAMS")]] = []
        elif word == "#":
            words = tasks["#"] = []
        else:
            words.append(word)
    return tasks, *map(int, tasks.pop("#"))


def same_config(config, scripts):
    got = prony("plan", config, "-q", "--format", "json")
    if got.returncode:
        return "does not load: " + got.stderr.decode()
    plan = json.loads(got.stdout)
    ours = {}
    for e in plan["experiments"]:
        params = {**plan["defaults"], **e["params"]}
        ours.setdefault(params["task.name"], []).append(params)
    if not shutil.which("bash"):
        return None
    tasks, gpus, repeats = ask_bash(scripts, config)
    if sorted(tasks) != sorted(ours):
        return "has other tasks"
    for name, words in tasks.items():
        args = words[2:]
        for params in ours[name]:
            command = params["exp.command"]
            if (command[len(command) - len(args):] != args or
                    params["exp.cwd"] != "/workspace/" + words[0] or
                    params["task.gpus"] != gpus):
                return "%s differs: %s" % (name, command)
        if len(ours[name]) != repeats:
            return "%s has %d repeats" % (name, len(ours[name]))
    return None


def configs(top):
    scripts = os.path.join(top, "scripts")
    found = sorted(glob.glob(os.path.join(scripts, "config_v*", "config*.sh")))
    bad = 0
    for config in found:
        why = same_config(config, scripts)
        if why:
            print("# %s %s" % (config, why))
            bad += 1
    check(not bad, "%d configs load as bash reads them" % len(found))
    check(len(found) == CONFIGS, "there are %d of them" % CONFIGS)


def tables(top):
    for metric, dialect, folder, name in (
            ("throughput", "v1", "results", "throughput-%s"),
            ("bs", "v1", "results", "bs-%s"),
            ("throughput", "v2", "results_v2", "throughput-v2-%s")):
        for precision in ("fp32", "fp16"):
            file = "pytorch-train-%s.csv" % (name % precision)
            got = prony("gather", os.path.join(top, folder), "--precision",
                        precision, "--metric", metric, "--dialect", dialect,
                        "--system", "all")
            with open(os.path.join(top, file), "rb") as f:
                check(got.returncode == 0 and got.stdout == f.read(), file)


def show(path):
    """A file of the old commit; None: there is no such history."""
    got = subprocess.run(["git", "-C", CHECKOUT, "show", OLD + ":" + path],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=False)
    return got.stdout if got.returncode == 0 else None


def old_systems(text, path):
    with open(path, "w", encoding="utf-8") as f:
        f.write("systems:\n")
        for node in ast.parse(text).body:
            if (isinstance(node, ast.Assign) and
                    node.targets[0].id.startswith("list_system")):
                for folder, row in ast.literal_eval(node.value).items():
                    f.write("  - " + json.dumps({
                        "folder": folder, "name": row[1], "gpus": row[0][1],
                        "watt": row[2], "price": row[3], "dialect": "g1",
                        "rules": ("old", "mid")[row[0][0]]}) + "\n")


def old_tables(top):
    script = show("pytorch/scripts/compile_results_pytorch_throughput.py")
    if script is None:
        print("# no history: the tables of 2022 are left out")
        return
    with tempfile.TemporaryDirectory() as tmp:
        systems = os.path.join(tmp, "systems.yaml")
        old_systems(script.decode(), systems)
        for precision in ("fp32", "fp16"):
            file = "pytorch-train-throughput-%s.csv" % precision
            got = prony("gather", os.path.join(top, "results"), "--precision",
                        precision, "--dialect", "g1", "--systems", systems)
            check(got.stdout == show("pytorch/" + file), file + " of 2022")


def honest(top):
    """Every log counts once: as a run, or as one that failed."""
    runs = fails = corrected = 0
    for folder in ("results", "results_v2"):
        got = prony("gather", os.path.join(top, folder), "--format", "json")
        for row in json.loads(got.stdout):
            runs += row["n"]
            fails += row["failed"]
            corrected += "corrected" in row.get("notes", "")
    print("# %d runs, %d failed, %d cells corrected" % (runs, fails, corrected))
    check(0 < runs + fails <= LOGS and fails > 1000 and corrected > 10,
          "the full table tells failures and corrections")


def main():
    if not CHECKOUT:
        print("PRONY_LAMBDA_CHECKOUT names no checkout: skipped")
        return 77
    top = os.path.join(os.path.abspath(CHECKOUT), "pytorch")
    if not os.path.isdir(top):
        sys.exit("%s has no folder pytorch" % CHECKOUT)
    configs(top)
    tables(top)
    old_tables(top)
    honest(top)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
