#!/usr/bin/env python3
"""Every verb that reads a run directory, on every state that one can be in:
no crash, no hang, a documented exit status, no word of what lies outside, and
the directory is afterwards as it was."""

import fcntl
import glob
import json
import os
import shutil
import stat
import subprocess

from _robust import PRONY, Scratch, run

DOCUMENTED = {0, 1, 2, 3, 4, 5, 6, 7}
SECRET = "this-lies-outside-the-run"

# What an emulated and a trained experiment would say, so that every report has
# something to show.
LINES = """\
__results.verdict__= "storage keeps all 2 accelerators busy"
__results.utilisation__= 0.951
__results.time__= 12.5
__results.throughput__= 1234.5
__results.samples_per_second__= 1234.5
__results.by_epoch__= [{"epoch": 1, "phase": "train", "seconds": 1.5}]
"""

t = Scratch()


# ---- what a run directory can be

def results(d):
    return sorted(glob.glob(d + "/experiments/*/result.json"))


def replace(path, data):
    os.unlink(path)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def edit(path, change):
    with open(path) as f:
        doc = json.load(f)
    replace(path, json.dumps(change(doc)))


def damage(data):
    """Every other result holds that instead."""
    def state(d):
        for path in results(d)[1::2]:
            replace(path, data)
    return state


def retyped(key, value):
    def state(d):
        for path in results(d):
            edit(path, lambda doc: dict(doc, **{key: value}))
    return state


def cut(name, share):
    def state(d):
        for path in glob.glob(d + name):
            with open(path, "rb") as f:
                data = f.read()
            replace(path, data[:int(len(data) * share)])
    return state


def without(*names):
    def state(d):
        for name in names:
            for path in glob.glob(d + name):
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    return state


def instead(name, make):
    """A pipe, a folder or a link where a file is expected."""
    def state(d):
        for path in glob.glob(d + name):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
            make(path)
    return state


def linked(path):
    """A link to a file or folder of the same kind that holds the secret."""
    outside = t.path("outside")
    name = os.path.basename(path)
    os.symlink(os.path.join(outside, name if os.path.exists(
        os.path.join(outside, name)) else "folder"), path)


def killed(d):
    """In the middle of an experiment, and of a write."""
    victim = results(d)[-1]
    os.unlink(victim)
    with open(os.path.dirname(victim) + "/.new-result.json.1.0", "w") as f:
        f.write('{"schema": "pro')
    with open(d + "/events.ndjson", "rb+") as f:
        f.truncate(os.path.getsize(f.name) - 20)


def not_numbers(d):
    for path in results(d):
        with open(path) as f:
            text = f.read()
        replace(path, text.replace("12.5", "NaN").replace("1234.5", "-Infinity"))


def interrupted(d):
    for path in results(d)[1:]:
        edit(path, lambda doc: dict(doc, status="interrupted"))


STATES = {
    "finished": lambda d: None,
    "unfinished": without("/experiments/*02-*/result.json"),
    "not begun": without("/experiments/*", "/events.ndjson"),
    "killed": killed,
    "interrupted": interrupted,
    "no results": without("/experiments/*/result.json"),
    "empty": without("/*"),
    "no plan": without("/plan.json"),
    "empty plan": lambda d: replace(d + "/plan.json", ""),
    "half a plan": cut("/plan.json", 0.7),
    "no events": without("/events.ndjson"),
    "no environment": without("/env.json"),
    "damaged environment": cut("/env.json", 0.5),
    "no folder of an experiment": without("/experiments/*01-*"),
    "no experiments": without("/experiments"),
    "half a result": cut("/experiments/*/result.json", 0.6),
    "one byte short": cut("/experiments/*/result.json", 0.999),
    "empty result": damage(""),
    "zeros": damage(b"\0" * 4096),
    "no JSON": damage("\x1b[31m result: ok\n"),
    "a list": damage("[1, 2]"),
    "null": damage("null"),
    "an empty map": damage("{}"),
    "deep": damage("[" * 100000),
    "status is a number": retyped("status", 7),
    "no such status": retyped("status", "splendid"),
    "results is a list": retyped("results", [1, "a", {}]),
    "results is null": retyped("results", None),
    "throughput is text": retyped("results", {"throughput": "fast", "time": []}),
    "params is text": retyped("params", "none"),
    "started is a map": retyped("started", {"at": 1}),
    "warnings is a number": retyped("warnings", 1),
    "no numbers": not_numbers,
    "result is a pipe": instead("/experiments/*/result.json", os.mkfifo),
    "result is a folder": instead("/experiments/*/result.json", os.mkdir),
    "result is a link": instead("/experiments/*/result.json", linked),
    "log is a pipe": instead("/experiments/*/log.txt", os.mkfifo),
    "log is a link": instead("/experiments/*/log.txt", linked),
    "experiment is a link": instead("/experiments/*03-*", linked),
    "experiments is a link": instead("/experiments", linked),
    "plan is a pipe": instead("/plan.json", os.mkfifo),
    "plan is a folder": instead("/plan.json", os.mkdir),
    "plan is a link": instead("/plan.json", linked),
    "events is a pipe": instead("/events.ndjson", os.mkfifo),
    "environment is a pipe": instead("/env.json", os.mkfifo),
    "environment is a link": instead("/env.json", linked),
    "monitor is a pipe": instead("/experiments/*/monitor.ndjson", os.mkfifo),
    "summary is a pipe": lambda d: [os.mkfifo(os.path.dirname(p) +
                                              "/summary.json")
                                    for p in results(d)],
    "running": lambda d: None,  # the lock is held, see below
}

# ---- what reads it

WEIGHTS = '{"a": {"weight": 1}, "two.a": {"weight": 2}}'


def mode(path):
    return os.lstat(path).st_mode if os.path.lexists(path) else 0


def one_result(d):
    return (results(d) or [d + "/experiments/none/result.json"])[0]


def verbs(d, other):
    first = one_result(d)
    page = t.path("page.html")
    yield from (["report", d, "--format", f]
                for f in ("text", "json", "csv", "md"))
    yield ["report", d, "--html", page]
    yield ["report", d, "--weights", WEIGHTS]
    yield ["report", d, "--weights", WEIGHTS, "--format", "json"]
    yield ["report", d, "--weights", WEIGHTS, "--html", page]
    yield ["report", d, "--compare-gpus"]
    yield ["report", d, "--compare", other]
    if not os.path.islink(d + "/experiments"):  # a path of the user's is theirs
        yield ["report", os.path.dirname(first)]
        yield ["report", os.path.dirname(first), "--format", "json"]
    yield ["summary", d]
    yield ["compare", d, other]
    yield ["compare", other, d, "--format", "json"]
    yield ["parse", d]
    yield ["parse", d, "--recursive", "--format", "json"]
    if not stat.S_ISFIFO(mode(first)):  # who names a pipe waits for it
        yield ["parse", first]
    yield ["parse", d, "--report", "regular"]
    yield ["scaling", d]
    yield ["scaling", d, "--type", "exploration"]
    yield ["plot", d, "--xparam", "n", "--yparam", "results.time"]
    yield ["plot", d, "--chart-type", "monitor", "--yparam", "cpu"]
    yield ["gather", d]
    yield ["gather", d, "--format", "text"]


def writers(d):
    """These may change it, so each gets a copy of its own."""
    yield ["run", "-q", "--resume", d]
    yield ["rerun", "-q", one_result(d), "-o", d + ".again"]


def snapshot(d):
    found = {}
    for at, folders, names in os.walk(d):
        for name in folders + names:
            st = os.lstat(os.path.join(at, name))
            found[os.path.join(at, name)] = (st.st_mode, st.st_size,
                                             st.st_mtime_ns)
    return found


def attempt(what, args):
    try:
        p = subprocess.run([PRONY] + args, stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        t.check(False, "%s: hangs: %s" % (what, args))
        return
    code, out, err = p.returncode, p.stdout.decode(), p.stderr.decode()
    t.check(code in DOCUMENTED, "%s: status %d: %s" % (what, code, args))
    t.check(code == 0 or err, "%s: status %d without a word: %s"
            % (what, code, args))
    t.check(SECRET not in out + err, "%s: tells what lies outside: %s"
            % (what, args))
    if "--html" in args and os.path.exists(t.path("page.html")):
        with open(t.path("page.html")) as f:
            t.check(SECRET not in f.read(), "%s: the page tells what lies "
                    "outside: %s" % (what, args))
        os.unlink(t.path("page.html"))
    if code == 0 and "json" in args:
        try:
            json.loads(out)
        except ValueError:
            t.check(False, "%s: no JSON: %s" % (what, args))


def make_templates():
    """Three experiments of which one fails, and a suite."""
    with open(t.path("lines"), "w") as f:
        f.write(LINES)
    with open(t.path("suite.json"), "w") as f:
        json.dump({"a": {"experiment": "command", "command": "cat lines"},
                   "b": {"experiment": "command", "command": "false"}}, f)
    command = "sh -c 'cat lines; test ${n} != 3'"
    for name, args in {
            "sweep": ["-P", "exp.command=" + json.dumps(command), "-P",
                      "exp.name=\"a\"", "-V", "n=[1, 2, 3]"],
            "suite": ["suite.json", "--no-isolation"]}.items():
        code, _, err = run(["run", "-q", "-o", name] + args, cwd=t.path())
        t.check(code in (1, 6), "%s: status %d\n%s" % (name, code, err))


def make_outside():
    """What links lead to: of the right kind, and secret."""
    good = t.path("sweep")
    outside = t.path("outside")
    os.mkdir(outside)
    with open(results(good)[0]) as f:
        text = f.read()
    for name in ("result.json", "env.json", "plan.json", "log.txt"):
        with open(os.path.join(outside, name), "w") as f:
            f.write(text.replace("storage keeps", SECRET) if name ==
                    "result.json" else '{"%s": "%s"}\n%s' % (
                        SECRET, SECRET, SECRET * 100))
    shutil.copytree(good + "/experiments", os.path.join(outside, "experiments"))
    os.mkdir(os.path.join(outside, "folder"))
    for folder in [outside + "/folder"] + glob.glob(outside + "/experiments/*"):
        for name in ("result.json", "log.txt"):
            shutil.copy(os.path.join(outside, name), folder)


def try_state(template, state, make):
    what = "%s, %s" % (template, state)
    d, other = t.path("d"), t.path("sweep")
    shutil.copytree(t.path(template), d, symlinks=True)
    make(d)
    lock = open(d + "/events.ndjson") if state == "running" else None
    if lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    before = snapshot(d)
    for args in verbs(d, other):
        attempt(what, args)
    t.check(snapshot(d) == before, what + ": reading changed it")
    for args in list(writers(d)):
        shutil.rmtree(d)
        shutil.copytree(t.path(template), d, symlinks=True)
        make(d)
        if lock:
            lock.close()
            lock = open(d + "/events.ndjson")
            fcntl.flock(lock, fcntl.LOCK_EX)
        attempt(what, args)
        shutil.rmtree(d + ".again", ignore_errors=True)
    if lock:
        lock.close()
    shutil.rmtree(d)


def main():
    os.chdir(t.path())
    make_templates()
    make_outside()
    for template in ("sweep", "suite"):
        for state, make in STATES.items():
            try_state(template, state, make)
    t.finish("%d states of two run directories" % len(STATES))


main()
