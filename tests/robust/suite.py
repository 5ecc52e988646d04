"""Jobs of a suite that run together in a hostile world: every child that was
started has one result with the reason, nothing is left running, and --resume
goes on."""

import glob
import json
import os
import signal
import subprocess
import sys
import time

from _robust import (PRONY, Scratch, check_run, processes_with, run, start,
                     wait_until)

DEVICES = 2


def mark_of(name):
    return "prony-suite-%d-%s" % (os.getpid(), name)


def profile(t, name, command, repeat_job=None, **more):
    """A profile of one job (and one more after it)."""
    entry = {"experiment": "command", "command": command, "arguments": {},
             "partition_scheme": {"type": "per-slot"}}
    entry.update(more)
    jobs = {"first": entry}
    if repeat_job:
        jobs["second"] = dict(entry, command=repeat_job)
    path = t.path(name + ".json")
    with open(path, "w") as f:
        json.dump(jobs, f)
    return path


def files_of(d):
    return sorted(f for f in glob.glob(os.path.join(d, "*.json"))
                  if os.path.basename(f) not in ("plan.json", "env.json"))


def check_files(t, d, what, total, status=None):
    """One result file for each experiment that has a result, none twice."""
    seen = {}
    for path in files_of(d):
        with open(path) as f:
            r = json.load(f)
        name = os.path.basename(path)
        key = r["prony"]["id"]
        t.check(key not in seen, "%s: two files of %s" % (what, key))
        seen[key] = r
        ok = r["prony"]["status"] == "ok"
        t.check(r["success"] is ok, "%s: success of %s" % (what, name))
        t.check((".FAIL." in name) is not ok, "%s: name %s" % (what, name))
        t.check(name.startswith("%s.J%s." % (r["name"], r["job_id"])),
                "%s: name %s of %s" % (what, name, r["job_id"]))
        t.check(ok or r["error"], "%s: no reason in %s" % (what, name))
        with open(os.path.join(d, "experiments", key, "result.json")) as f:
            t.check(json.load(f)["status"] == r["prony"]["status"],
                    "%s: the two results differ" % what)
        if status:
            t.check(r["prony"]["status"] == status, "%s: %s is %s, not %s (%s)"
                    % (what, name, r["prony"]["status"], status,
                       r["prony"]["reason"]))
    t.check(len(seen) == total, "%s: %d of %d result files: %s"
            % (what, len(seen), total, sorted(os.listdir(d))))
    return seen


def resume(t, d, what, total):
    """Goes on with a command that ends; then all have their one result."""
    plan = os.path.join(d, "plan.json")
    with open(plan) as f:
        text = f.read()
    with open(plan, "w") as f:
        f.write(text.replace("sleep 100", "true").replace("while :", "while false"))
    code, _, err = run(["run", "--resume", d, "--retry", "0"])
    t.check(code == 0, "%s: resume: %d %s" % (what, code, err))
    check_run(t, d, total)
    check_files(t, d, what + ", resumed", total, "ok")
    before = files_of(d)
    run(["run", "--resume", d])
    t.check(files_of(d) == before, "%s: resuming what is done" % what)


def begin(t, name, command, want, args=(), **more):
    d, mark = t.path(name + ".out"), mark_of(name)
    path = profile(t, name, command + [mark], ["sh", "-c", "sleep 100", mark],
                   **more)
    p = start(["run", path, "-o", d, "--devices", str(DEVICES)] + list(args),
              env=dict(os.environ, M=mark))
    t.check(wait_until(lambda: len(sleeping(mark)) >= want),
            "%s: start: %s" % (name, sleeping(mark)))
    return p, d, mark


def sleeping(mark):
    """Children of the experiments: the shells' sleeps."""
    found = []
    for pid in processes_with(mark):
        try:
            with open("/proc/%d/comm" % pid) as f:
                if f.read().strip() == "sleep":
                    found.append(pid)
        except OSError:
            pass
    return found


def gone(t, mark, what):
    t.check(wait_until(lambda: not processes_with(mark)),
            "%s: left running: %s" % (what, processes_with(mark)))


def ctrl_c(t):
    p, d, mark = begin(t, "int", ["sh", "-c", "sleep 100; :"], DEVICES)
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=30)
    t.check(p.returncode == 130, "int: exit %d" % p.returncode)
    t.check(b"--resume" in err, "int: no word on resuming")
    gone(t, mark, "int")
    check_files(t, d, "int", DEVICES, "interrupted")
    resume(t, d, "int", 2 * DEVICES)


def deaf(t):
    """A child that ignores SIGTERM: its time is up, then it is killed."""
    p, d, mark = begin(t, "deaf", ["sh", "-c",
                                   "trap '' TERM; while :; do sleep 0.1; done"],
                       DEVICES, ["-P", "exp.grace=0.5", "-P", "exp.timeout=1",
                                 "--fail-fast"])
    began = time.monotonic()
    p.communicate(timeout=30)
    t.check(time.monotonic() - began < 60, "deaf: took long")
    t.check(p.returncode == 124, "deaf: exit %d" % p.returncode)
    gone(t, mark, "deaf")
    check_files(t, d, "deaf", DEVICES, "timeout")
    resume(t, d, "deaf", 2 * DEVICES)


def runner_killed(t):
    p, d, mark = begin(t, "kill", ["sh", "-c", "sleep 100; :"], DEVICES)
    p.kill()
    p.communicate(timeout=30)
    what = "kill -9 of the runner"
    gone(t, mark, what)
    t.check(wait_until(lambda: len(files_of(d)) == DEVICES),
            "%s: %s" % (what, files_of(d)))
    seen = check_files(t, d, what, DEVICES, "interrupted")
    t.check(all("the runner was killed" in r["prony"]["reason"]
                for r in seen.values()), what + ": the reason")
    resume(t, d, what, 2 * DEVICES)


def keeper_killed(t):
    """The run cannot go on, and says so also in the results of its children."""
    p, d, mark = begin(t, "keeper", ["sh", "-c", "sleep 100; :"], DEVICES)
    with open("/proc/%d/task/%d/children" % (p.pid, p.pid)) as f:
        os.kill(int(f.read().split()[0]), signal.SIGKILL)
    p.communicate(timeout=30)
    t.check(p.returncode == 5, "keeper: exit %d" % p.returncode)
    gone(t, mark, "keeper")
    seen = check_files(t, d, "keeper", DEVICES, "interrupted")
    t.check(all("the keeper process has died" in r["prony"]["reason"]
                for r in seen.values()), "keeper: the reason")
    resume(t, d, "keeper", 2 * DEVICES)


def child_killed(t):
    """One copy is killed; the other one goes on to its end."""
    p, d, mark = begin(t, "child", ["sh", "-c", "sleep 3; :"], DEVICES,
                       ["--name", "first"])
    victim = None
    for pid in sleeping(mark):
        with open("/proc/%d/stat" % pid) as f:
            victim = int(f.read().rsplit(")", 1)[1].split()[1])
    os.kill(victim, signal.SIGKILL)
    p.communicate(timeout=30)
    t.check(p.returncode == 6, "child: exit %d" % p.returncode)
    gone(t, mark, "child")
    seen = check_files(t, d, "child", DEVICES)
    ends = sorted(r["prony"]["status"] for r in seen.values())
    t.check(ends == ["failed", "ok"], "child: %s" % ends)
    t.check(any("signal 9" in (r["error"] or "") for r in seen.values()),
            "child: the reason")


def fail_fast(t):
    """One copy fails: the others are stopped at once, and nothing else is
    started. Without --fail-fast they go on."""
    path = profile(t, "fast", ["sh", "-c", "test $PRONY_SLOT = 1 && exit 3;"
                               " exec sleep 100", mark_of("fast")],
                   ["sh", "-c", "true"])
    d, began = t.path("fast.out"), time.monotonic()
    code, _, _ = run(["run", path, "-o", d, "--devices", "3", "--fail-fast",
                      "--retry", "1"])
    t.check(code == 1, "fast: exit %d" % code)
    t.check(time.monotonic() - began < 60, "fast: took long")
    gone(t, mark_of("fast"), "fast")
    seen = check_files(t, d, "fast", 3)
    ends = sorted(r["prony"]["status"] for r in seen.values())
    t.check(ends == ["failed", "interrupted", "interrupted"], "fast: %s" % ends)
    for r in seen.values():
        t.check(r["prony"]["status"] == "failed" or
                "--fail-fast" in r["prony"]["reason"], "fast: the reason")


def grandchild_killed(t):
    p, d, mark = begin(t, "grand", ["sh", "-c", "sleep 100; exit 7"], DEVICES,
                       ["--name", "first"])
    for pid in sleeping(mark):
        os.kill(pid, signal.SIGKILL)
    p.communicate(timeout=30)
    t.check(p.returncode == 1, "grand: exit %d" % p.returncode)
    gone(t, mark, "grand")
    seen = check_files(t, d, "grand", DEVICES, "failed")
    t.check(all("status 7" in r["error"] for r in seen.values()),
            "grand: the reason")


def out_of_memory(t):
    """A child that fills its slot's memory dies of it, and alone. Only where
    the slot's memory can be limited."""
    d, mark = t.path("oom.out"), mark_of("oom")
    eat = ("import os,sys\n"
           "if os.environ['PRONY_SLOT'] != '0': sys.exit(0)\n"
           "b = []\n"
           "while True: b.append(bytearray(64 << 20))")
    path = profile(t, "oom", [sys.executable, "-c", eat, mark])
    # The more slots, the smaller is the one that is filled.
    code, _, err = run(["run", path, "-o", d, "--devices", "64"])
    seen = check_files(t, d, "oom", 64)
    held = {r["prony"]["slot"]["memory_held_by"] for r in seen.values()}
    if not held & {"cgroup v1", "cgroup v2"}:
        print("SKIPPED: memory is not limited here (%s); run it as root" % held)
        return
    bad = [r for r in seen.values() if r["device"] == 0]
    t.check(all(r["prony"]["status"] == "oom" for r in bad), "oom: %s"
            % {r["prony"]["status"] + ": " + r["prony"]["reason"] for r in bad})
    for r in seen.values():
        t.check(r["device"] == 0 or r["success"],
                "oom: its neighbour: %s" % r["error"])
    t.check(code == 6, "oom: exit %d %s" % (code, err))


def full_disk(t):
    """No room for a result: the run says so, nothing is half there, and with
    room again it goes on."""
    disk = t.path("disk")
    os.mkdir(disk)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk],
                      capture_output=True).returncode:
        print("SKIPPED: no rights to mount; run it as root")
        return
    try:
        d = os.path.join(disk, "out")
        path = profile(t, "disk", ["sh", "-c", "head -c 4000000 /dev/zero"])
        code, _, _ = run(["run", path, "-o", d, "--devices", "2"])
        t.check(code in (1, 5), "disk: exit %d" % code)
        for f in files_of(d):
            with open(f) as g:
                json.load(g)
        t.check(not glob.glob(os.path.join(d, ".new-*")), "disk: half a file")
        seen = check_files(t, d, "disk", 2, "interrupted")
        t.check(any("No space left" in r["prony"]["reason"]
                    for r in seen.values()), "disk: the reason")
        for log in glob.glob(os.path.join(d, "experiments", "*", "log.txt*")):
            os.truncate(log, 0)
        with open(os.path.join(d, "plan.json")) as f:
            text = f.read()
        subprocess.run(["mount", "-o", "remount,size=4m", disk], check=True)
        with open(os.path.join(d, "plan.json"), "w") as f:
            f.write(text.replace("4000000", "10"))
        code, _, err = run(["run", "--resume", d, "--retry", "0"])
        t.check(code == 0, "disk: resume %d %s" % (code, err))
        check_files(t, d, "disk", 2, "ok")
    finally:
        subprocess.run(["umount", disk])


def interrupted_before(t):
    """Ctrl-C while a command of prepare runs: nothing was started, so nothing
    has a result, and resuming does it all."""
    p, d, mark = begin(t, "prepare", ["sh", "-c", "true"], 1,
                       prepare=["sh -c 'sleep 100; :' %s" % mark_of("prepare")])
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=30)
    t.check(p.returncode == 130, "prepare: exit %d" % p.returncode)
    gone(t, mark, "prepare")
    check_files(t, d, "prepare", 0)
    resume(t, d, "prepare", 2 * DEVICES)


def never_ready(t):
    """A command of prepare that does not end has its limit, also without
    exp.timeout; the job goes on, and its results say so."""
    for limits in (["exp.timeout=1"], ["suite.prepare_timeout=1"],
                   ["suite.prepare_timeout=100", "exp.timeout=1"],
                   ["suite.prepare_timeout=1", "exp.timeout=100"]):
        never_ready_within(t, limits)


def never_ready_within(t, limits):
    mark = mark_of("never")
    path = profile(t, "never", ["sh", "-c", "true"], prepare=[
        "sh -c 'sleep 100 & sleep 100' %s" % mark, "echo after"])
    d, began = t.path("never." + "".join(limits)), time.monotonic()
    more = [a for limit in limits for a in ("-P", limit)]
    code, _, err = run(["run", path, "--devices", str(DEVICES), "-o", d] + more)
    t.check(code == 0, "never: exit %d %s" % (code, err))
    t.check(1 <= time.monotonic() - began < 60, "never: not in time")
    gone(t, mark, "never")
    check_files(t, d, "never", DEVICES, "ok")
    for path in glob.glob(os.path.join(d, "experiments", "*", "result.json")):
        with open(path) as f:
            warnings = json.dumps(json.load(f).get("warnings"))
        t.check("did not end within 1 s" in warnings,
                "never: no warning: %s" % warnings)


def main():
    t = Scratch()
    for one in (ctrl_c, interrupted_before, never_ready, deaf, runner_killed,
                keeper_killed, fail_fast, child_killed, grandchild_killed, out_of_memory, full_disk):
        if len(sys.argv) < 2 or one.__name__ in sys.argv[1:]:
            one(t)
    t.finish("suite: jobs that run together")


if __name__ == "__main__":
    main()
