"""The programs that benchmarks compare with: fio comes from the distribution
(tools/packages), Python's packages and DLIO are installed in build-bench/venv,
apart from the system's Python, and milarun, benchy and DLBS are taken from
checkouts below $PRONY_PEERS. All of them are optional, and so is the net: what
cannot be had is one line at the end."""

import glob
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.path.dirname(HERE), "build-bench")
VENV = os.path.join(FOLDER, "venv")
PYTHON = os.path.join(VENV, "bin", "python")
REQUIREMENTS = os.path.join(HERE, "requirements.txt")
# milarun's report needs pandas of its time, and so a place of its own.
MILARUN_VENV = os.path.join(FOLDER, "venv-milarun")
MILARUN_NEEDS = ("pandas<2", "numpy<2", "jinja2", "coleo", "hrepr")


def requirements():
    with open(REQUIREMENTS, encoding="utf-8") as f:
        return [line.split() for line in f
                if line.strip() and not line.startswith("#")]


def installed(venv):
    """Versions by name, names as pip compares them."""
    places = glob.glob(os.path.join(venv, "lib", "python3*", "site-packages"))
    return {plain(d.metadata["Name"]): d.version
            for d in importlib.metadata.distributions(path=places)}


def plain(name):
    return re.sub(r"[-_.]+", "-", re.split("[=<>]", name)[0]).lower()


def is_there(words, have):
    name, _, version = words[-1].partition("==")
    found = have.get(plain(name), "")
    return found.partition("+")[0] == version if version else bool(found)


def pip(venv, words):
    return subprocess.run(
        [os.path.join(venv, "bin", "python"), "-m", "pip", "install", "-q",
         "--disable-pip-version-check", "--retries", "1", *words],
        check=False, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode == 0


def make_venv(venv):
    if os.access(os.path.join(venv, "bin", "pip"), os.X_OK):
        return True
    return subprocess.run([sys.executable, "-m", "venv", "--clear", venv],
                          check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def install(venv, wanted, say):
    """Together they agree on versions; if one is not to be had for this Python
    the others still are. What needs options comes on its own, afterwards."""
    have = installed(venv)
    lacking = [words for words in wanted if not is_there(words, have)]
    if not lacking:
        return
    say("bench: installing %s in %s" % (
        ", ".join(words[-1] for words in lacking), os.path.relpath(venv)))
    if not make_venv(venv):
        say("bench: no environment for Python can be made here")
        return
    plain_ones = [words[0] for words in lacking if len(words) == 1]
    if plain_ones and not pip(venv, plain_ones):
        for one in plain_ones:
            if not pip(venv, [one]) and not is_online():
                return
    for words in lacking:
        if len(words) > 1:
            pip(venv, words)


def is_online():
    """Whether an index answers at all; or each of twenty packages would be
    waited for."""
    return subprocess.run(
        [PYTHON, "-m", "pip", "download", "-q", "--no-deps", "--retries", "0",
         "-d", os.path.join(FOLDER, "probe"), "jinja2"], check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


# ---- checkouts

CHECKOUTS = {"PRONY_MILARUN": "milarun/cli", "PRONY_BENCHY": "benchy",
             "PRONY_DLBS": "python/dlbs"}


def checkouts():
    """Those below $PRONY_PEERS, by the folder that tells them."""
    root = os.environ.get("PRONY_PEERS")
    found = {}
    for folder in sorted(glob.glob(os.path.join(root, "*"))) if root else ():
        for name, mark in CHECKOUTS.items():
            if glob.glob(os.path.join(folder, mark + "*")):
                found.setdefault(name, os.path.abspath(folder))
    return found


# ---- all of them

def set_up(say):
    """What benchmarks get to know by their environment. What a user has set
    himself holds."""
    os.makedirs(FOLDER, exist_ok=True)
    env = checkouts()
    install(VENV, requirements(), say)
    if "numpy" in installed(VENV):  # else the system's has more
        env.update(PYTHON=PYTHON, PRONY_TORCH_PYTHON=PYTHON,
                   PRONY_MATPLOTLIB_PYTHON=PYTHON)
        dlio = os.path.join(VENV, "bin", "dlio_benchmark")
        if os.access(dlio, os.X_OK):
            env.update(PRONY_DLIO=dlio, DLIO=dlio)
    if env.get("PRONY_MILARUN") or os.environ.get("PRONY_MILARUN"):
        install(MILARUN_VENV, [[need] for need in MILARUN_NEEDS], say)
        env["PRONY_MILARUN_PYTHON"] = os.path.join(MILARUN_VENV, "bin",
                                                   "python")
    return {name: value for name, value in env.items()
            if name == "PYTHON" or name not in os.environ}


def versions():
    have = installed(VENV)
    names = ("dlio-benchmark", "torch", "numpy", "h5py", "pandas",
             "onnxruntime", "matplotlib")
    fio = shutil.which("fio") and subprocess.run(
        ["fio", "--version"], stdout=subprocess.PIPE, text=True,
        check=False).stdout.strip()
    return ", ".join([fio or "no fio",
                      *("%s %s" % (n, have[n]) for n in names if n in have)])


# ---- what is missing

# Who is meant by what a benchmark skipped, and how to have it.
WHO = (
    ("fio", r"\bfio\b", "apt-get install fio"),
    ("DLIO", r"(?i)dlio", "see bench/README.md"),
    ("milarun", r"milarun itself", "a checkout below PRONY_PEERS"),
    ("ONNX Runtime", r"(?i)onnx", "pip install in build-bench/venv"),
    ("PyTorch", r"(?i)torch", "pip install in build-bench/venv"),
    ("h5py", r"h5py", "pip install in build-bench/venv"),
    ("pandas", r"pandas|pyarrow|milarun's way", "pip install in "
     "build-bench/venv"),
    ("numpy", r"numpy", "pip install in build-bench/venv"),
    ("matplotlib", r"matplotlib", "pip install in build-bench/venv"),
)


def missing(skipped):
    """One line for each peer that is not there, however often it was missed;
    what is no peer's is said as it is."""
    count, others = {}, []
    for text in skipped:
        for name, pattern, how in WHO:
            if re.search(pattern, text):
                count.setdefault(name, [how, 0, text])[1] += 1
                break
        else:
            if text not in others:
                others.append(text)
    return ["%s: %s%s (%s)" % (name, text.partition(": ")[2] or text,
                               " and %d more" % (n - 1) if n > 1 else "", how)
            for name, (how, n, text) in count.items()] + others
