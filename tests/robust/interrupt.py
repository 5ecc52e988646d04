"""Signals, timeouts, retries and failures, as a user meets them."""

import glob
import json
import os
import signal
import time

from _robust import (Scratch, check_run, processes_with, run, start,
                     wait_until)


def result_of(directory, index=0):
    folder = os.path.join(directory, "experiments")
    name = sorted(os.listdir(folder))[index]
    with open(os.path.join(folder, name, "result.json")) as f:
        return json.load(f)


def log_of(directory):
    """What the first experiment has written so far."""
    try:
        folder = os.path.join(directory, "experiments")
        name = sorted(os.listdir(folder))[0]
        with open(os.path.join(folder, name, "log.txt")) as f:
            return f.read()
    except (OSError, IndexError):
        return ""


def has_begun(directory):
    """Whether the first experiment was started."""
    return bool(glob.glob(os.path.join(directory, "experiments/*/log.txt")))


def ctrl_c_once(t):
    d = t.path("once")
    mark = "prony-int-%d-a" % os.getpid()
    p = start(["run", "-o", d, "-P",
               'exp.command=["sh", "-c", "sleep 100", "%s"]' % mark,
               "-V", "i=[1, 2, 3]"], env=dict(os.environ, M=mark))
    t.check(wait_until(lambda: has_begun(d)), "start")
    began = time.monotonic()
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=20)
    t.check(time.monotonic() - began < 60, "SIGINT took long")
    t.check(p.returncode == 130, "SIGINT: exit %d" % p.returncode)
    t.check(b"--resume " + d.encode() in err, "no word on resuming: %s" % err)
    t.check(result_of(d)["status"] == "interrupted", "status")
    t.check(not processes_with(mark), "child left after SIGINT")
    # Resumed with a command that ends, all three get a result.
    plan = os.path.join(d, "plan.json")
    with open(plan) as f:
        text = f.read()
    with open(plan, "w") as f:
        f.write(text.replace("sleep 100", "true"))
    code, _, err = run(["run", "--resume", d])
    t.check(code == 0, "resume: %d %s" % (code, err))
    check_run(t, d, 3)


def ctrl_c_twice(t):
    d = t.path("twice")
    mark = "prony-int-%d-b" % os.getpid()
    p = start(["run", "-o", d, "-P", "exp.grace=60", "-P",
               'exp.command=["sh", "-c", "trap \'\' TERM; echo ready; while :;'
               ' do sleep 0.05; done", "%s"]' % mark],
              env=dict(os.environ, M=mark))
    t.check(wait_until(lambda: "ready" in log_of(d)), "start")
    p.send_signal(signal.SIGINT)
    time.sleep(0.3)
    t.check(p.poll() is None, "one SIGINT ended a child that ignores SIGTERM")
    began = time.monotonic()
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=20)
    t.check(time.monotonic() - began < 60, "second SIGINT took long")
    t.check(p.returncode == 130, "twice: exit %d" % p.returncode)
    t.check(result_of(d)["status"] == "interrupted", "status")
    t.check(not processes_with(mark), "child left after two SIGINT")


def sigterm_and_usr1(t):
    d = t.path("term")
    mark = "prony-int-%d-c" % os.getpid()
    p = start(["run", "-o", d, "-P", 'exp.command=["sleep", "100"]'],
              env=dict(os.environ, M=mark))
    t.check(wait_until(lambda: len(processes_with(mark)) >= 3), "start")
    p.send_signal(signal.SIGTERM)
    p.communicate(timeout=20)
    t.check(p.returncode == 143, "SIGTERM: exit %d" % p.returncode)
    d = t.path("usr1")
    p = start(["run", "-o", d, "-P", 'exp.command=["sleep", "0.5"]', "-V",
               "i=[1, 2, 3]"], env=dict(os.environ, M=mark + "u"))
    t.check(wait_until(lambda: len(processes_with(mark + "u")) >= 3),
            "start")
    p.send_signal(signal.SIGUSR1)
    _, err = p.communicate(timeout=20)
    t.check(p.returncode == 0, "SIGUSR1: exit %d" % p.returncode)
    t.check(result_of(d)["status"] == "ok", "SIGUSR1 cut the current one")
    t.check(len(os.listdir(os.path.join(d, "experiments"))) == 1,
            "SIGUSR1 did not stop after the current one")
    t.check(b"2 of 3 experiments are left" in err, "no word on the rest")


def timeout(t):
    d = t.path("timeout")
    mark = "prony-int-%d-d" % os.getpid()
    began = time.monotonic()
    code, _, err = run(["run", "-o", d, "--timeout", "0.3", "-P",
                        "exp.grace=0.2", "-P",
                        'exp.command=["sh", "-c", "trap \'\' TERM; setsid '
                        'sleep 50 & while :; do sleep 0.05; done", "%s"]'
                        % mark], env=dict(os.environ, M=mark))
    t.check(time.monotonic() - began < 45, "timeout took long")
    t.check(code == 124, "timeout: exit %d %s" % (code, err))
    t.check(result_of(d)["status"] == "timeout", "status")
    t.check(not processes_with(mark), "child left after a timeout")


def failures(t):
    d = t.path("mixed")
    code, out, err = run(["run", "-o", d, "--format", "json", "-P",
                          'exp.command=["sh", "-c", "echo last words; exit '
                          '$1", "x", "${i}"]', "-V", "i=[0, 3]"])
    t.check(code == 6, "partial: exit %d" % code)
    doc = json.loads(out)
    bad = doc["experiments"][1]
    t.check(bad["status"] == "failed" and "3" in bad["reason"], "reason")
    t.check("last words" in bad["log_tail"], "log tail")
    code, out, _ = run(["run", "-o", t.path("sig"), "--format", "json", "-P",
                        'exp.command=["sh", "-c", "kill -SEGV $$"]'])
    t.check(code == 1, "signal: exit %d" % code)
    t.check("SIGSEGV" in json.loads(out)["experiments"][0]["reason"], "SEGV")
    code, out, _ = run(["run", "-o", t.path("none"), "--format", "json", "-P",
                        'exp.command=["/no/such/program"]'])
    t.check(code == 1 and "No such file"
            in json.loads(out)["experiments"][0]["reason"], "missing program")
    code, _, err = run(["run", "-o", t.path("fast"), "--fail-fast", "-P",
                        'exp.command=["false"]', "-V", "i=[1, 2, 3]"])
    t.check(code == 1 and
            len(os.listdir(t.path("fast", "experiments"))) == 1, "fail fast")


def retry(t):
    flag = t.path("flag")
    d = t.path("retry")
    command = ('exp.command=["sh", "-c", "test -e %s || { touch %s; exit 1; }"'
               ']' % (flag, flag))
    code, _, err = run(["run", "-o", d, "--retry", "2", "-P", command])
    t.check(code == 0, "retry: exit %d %s" % (code, err))
    t.check(result_of(d)["attempts"] == 2, "attempts")
    os.remove(flag)
    d = t.path("later")
    code, _, _ = run(["run", "-o", d, "-P", command])
    t.check(code == 1, "without retry: exit %d" % code)
    code, _, _ = run(["run", "--resume", d])
    t.check(code == 1, "resume keeps a failure: exit %d" % code)
    code, _, _ = run(["run", "--resume", d, "--retry", "0"])
    t.check(code == 0, "resume with --retry: exit %d" % code)


def main():
    t = Scratch()
    for test in (ctrl_c_once, ctrl_c_twice, sigterm_and_usr1, timeout,
                 failures, retry):
        before = t.failed
        test(t)
        print("%s %s" % ("ok" if t.failed == before else "not ok",
                         test.__name__))
    t.finish("signals, timeouts, failures and retries")


main()
