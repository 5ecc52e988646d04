"""Scripts that use the package prony, run by an interpreter in a folder of
their own. The package is that of this tree, the extension that of this build."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import types

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
EXT = os.environ.get("PYTHON_EXT") or os.path.join(SRC, "build", "python")
VENV = os.path.join(SRC, "build", "venv", "bin", "python")
PATH = os.pathsep.join([os.path.join(SRC, "python"), EXT])
# Five batches a trial, so that a script of all phases is over at once.
FEW = """
global:
        report_freq: 2     # a comment, as people have them
IO:
        nbatches: 5
synthetic:
        nbatches: 5
full:
        nbatches: 5
"""


def skip(why):
    print("1..0 # SKIP " + why)
    sys.exit(77)


def need_extension():
    if not glob.glob(os.path.join(EXT, "_prony*.so")):
        skip("no extension for Python; install python3-dev and build again")


def has(python, *modules):
    code = ("import importlib.util as u, sys; "
            "sys.exit(not all(map(u.find_spec, %r)))" % (modules,))
    return bool(python) and os.access(python, os.X_OK) and subprocess.run(
        [python, "-c", code], check=False).returncode == 0


def interpreter(variable, *modules):
    """One that has these modules, or None."""
    for python in (os.environ.get(variable), VENV, sys.executable):
        if has(python, *modules):
            return python
    return None


def environment(more=None):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("BENCHY_", "PRONY_", "NVTX_"))}
    if env.get("PYTHON_SANITIZER"):  # the library that the extension needs
        env["LD_PRELOAD"] = env["PYTHON_SANITIZER"]
    # Of an extension that was built with one: the interpreter was not.
    if os.environ.get("PYTHON_SANITIZER"):
        env["LD_PRELOAD"] = os.environ["PYTHON_SANITIZER"]
    env.update({"PYTHONPATH": PATH, "PYTHONDONTWRITEBYTECODE": "1",
                "OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "1"},
               **more or {})
    return env


def start(folder, code, python=sys.executable, config=FEW, args=(), **env):
    """The command and environment of a script in this folder."""
    script = os.path.join(folder, "script.py")
    with open(script, "w", encoding="utf-8") as f:
        f.write(code)
    if config is not None:
        env["BENCHY_CONFIG_FILE"] = os.path.join(folder, "benchy.yaml")
        with open(env["BENCHY_CONFIG_FILE"], "w", encoding="utf-8") as f:
            f.write(config)
    return {"args": [python, script, *args], "cwd": folder,
            "env": environment(env), "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE, "text": True}


def run(code, python=sys.executable, config=FEW, timeout=300, **env):
    """Runs a script; status, out, err, result (parsed; None: no file), text
    of the result, names of the files it left."""
    folder = tempfile.mkdtemp(prefix="prony-python.")
    try:
        try:
            done = subprocess.run(timeout=timeout, check=False,
                                  **start(folder, code, python, config, **env))
        except subprocess.TimeoutExpired:
            done = types.SimpleNamespace(returncode=-1, stdout="", stderr=(
                "it hangs: no end after %s s" % timeout))
        got = types.SimpleNamespace(status=done.returncode, out=done.stdout,
                                    err=done.stderr, result=None, text=None)
        got.files = {}
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and name not in ("script.py",
                                                     "benchy.yaml"):
                with open(path, encoding="utf-8", errors="replace") as f:
                    got.files[name] = f.read()
        got.text = got.files.get("benchy_result.json")
        got.result = json.loads(got.text) if got.text else None
        got.all = "exit status %d\n%s%s" % (got.status, got.out, got.err)
        return got
    finally:
        shutil.rmtree(folder)
