"""Experiments in real containers, with podman and images made on the spot:
exit status, memory, time limits, Ctrl-C, mounts, environment, the channel,
training inside; and nothing is left behind. Needs podman, runc and a static
busybox, and the right to use them; skipped loudly without."""

import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import time

from _robust import PRONY, Scratch, processes_with, run, start, wait_until

SHELL, OWN = "prony-test/shell:1", "prony-test/own:1"


def skip(t, why):
    t.dir.cleanup()
    print("SKIP: " + why.strip())
    sys.exit(77)


class Podman:
    """A podman with a store of its own, far from the user's."""

    def __init__(self, t):
        self.words = [
            "podman", "--root", t.path("store"), "--runroot", t.path("run"),
            "--tmpdir", t.path("tmp"), "--storage-driver", "vfs",
            "--cgroup-manager", "cgroupfs", "--events-backend=file",
            "--runtime", "runc"]
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        # Where limits may not be raised, the default ones are refused.
        self.group = "prony-test-%d" % os.getpid()
        self.args = "--rm --shm-size=64m --ipc=host --ulimit nofile=%d " \
            "--ulimit nproc=1024 --cgroup-parent=/%s" % (
                min(most, 20000) if most > 0 else 20000, self.group)

    def __call__(self, *words):
        return subprocess.run(self.words + list(words), timeout=100,
                              stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL)

    def options(self, image):
        return ["-P", "exp.docker=true", "-P", "exp.docker_image=" + image,
                "-P", 'exp.docker_launcher="%s"' % " ".join(self.words),
                "-P", 'exp.docker_args="%s"' % self.args,
                "-P", "container.network=none"]


# ------------------------------------------------------------------- images


def shell_image(podman, t):
    """A static busybox under many names."""
    busybox = shutil.which("busybox")
    if not busybox:
        skip(t, "no busybox; install busybox-static")
    names = "sh sleep cat echo env true dd id ls pwd grep touch".split()
    with tarfile.open(t.path("shell.tar"), "w") as tar:
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(folder)
        tar.add(busybox, "bin/busybox")
        for name in names:
            link = tarfile.TarInfo("bin/" + name)
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            tar.addfile(link)
    done = podman("import", "-q", t.path("shell.tar"), SHELL)
    if done.returncode:
        skip(t, "no image can be made; run it where podman works: "
             + done.stdout)
    done = podman("run", *podman.args.replace("--shm-size=64m", "").split(),
                  "--network=none", SHELL, "sh", "-c", "echo alive")
    if done.returncode or "alive" not in done.stdout:
        skip(t, "no container starts; run it where podman works: "
             + done.stdout)


def needed(path):
    """A program or library with all the libraries that it is linked with."""
    said = subprocess.run(["ldd", path], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, timeout=60).stdout
    return [path] + re.findall(r"(/\S+) \(0x", said)


def own_image(podman, t):
    """This prony, what it loads, and the models; False: no oneDNN."""
    _, out, _ = run(["doctor"])
    row = [line for line in out.splitlines() if line.startswith("oneDNN")]
    engine = glob.glob("/usr/lib/*/libdnnl.so.[0-9]")
    if not engine or not row or " ok " not in row[0]:
        return False
    share = os.environ["SRC"]
    with tarfile.open(t.path("own.tar"), "w", dereference=True) as tar:
        for path in sorted(set(needed(PRONY) + needed(engine[0]))):
            tar.add(path, path.lstrip("/"))
        tar.add(PRONY, "usr/bin/prony")
        for name in ("models", "workloads", "frameworks"):
            if os.path.isdir(os.path.join(share, name)):
                tar.add(os.path.join(share, name), "usr/share/prony/" + name)
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(folder)
    done = podman("import", "-q", t.path("own.tar"), OWN)
    return t.check(done.returncode == 0, "own image: " + done.stdout)


# -------------------------------------------------------------- experiments


class Did:
    """A run of one plan; results by number."""

    def __init__(self, where, code, out, err):
        self.code, self.said = code, out + err
        self.dirs = sorted(glob.glob(os.path.join(where, "experiments", "*")))

    def result(self, i=0):
        with open(os.path.join(self.dirs[i], "result.json")) as f:
            return json.load(f)

    def log(self, i=0):
        with open(os.path.join(self.dirs[i], "log.txt"), errors="replace") as f:
            return f.read()


NUMBER = [0]


def place(t):
    NUMBER[0] += 1
    return t.path("out-%d" % NUMBER[0])


def go(t, podman, *words, image=SHELL):
    where = place(t)
    return Did(where, *run(["run", "-q", "-o", where] + podman.options(image)
                           + list(words), cwd=t.path()))


def command(script):
    return ["sh", "-c", script]


def many(t, podman):
    """Ends of all kinds, one after another."""
    odd = t.path("odd: a,b")
    os.mkdir(odd)
    with open(os.path.join(odd, "file"), "w") as f:
        f.write("seen inside")
    os.symlink(odd, t.path("data"))
    os.environ["PRONY_TEST_OUTSIDE"] = "not for the inside"
    scripts = [
        command("env; pwd; id; cat %s; cat /mnt/file; cat '%s'; "
                "touch /mnt/new; ls %s; "
                "echo '__results.answer__= 42'; "
                "echo '{\"results.spoken\": 7}' >> $PRONY_CHANNEL"
                % (t.path("data", "file"), os.path.join(odd, "file"),
                   os.environ["SRC"])),
        command("echo before; exit 3"),
        ["no-such-program"],
        command("exec dd if=/dev/zero of=/dev/null bs=300M count=1"),
        command("kill -SEGV $$; exec sh -c 'exit 139'"),
    ]
    d = go(t, podman, "-V", "exp.command=" + json.dumps(scripts),
           "-P", "dataset.data_folder=" + odd,
           "-P", "runtime.env.OWN=a b,c", "-P", "runtime.launcher=LAUNCHED=1",
           "-P", "exp.data_dir=" + t.path("data"),
           "-P", 'container.mounts=["%s:/mnt:ro"]' % t.path("data"),
           "-P", "container.memory=64MiB", "-P", "container.cpus=1")
    if not t.check(len(d.dirs) == len(scripts), "plan: " + d.said):
        return
    log = d.log(0)
    t.check(d.result(0)["status"] == "ok", "first: %s" % log)
    for want in ("OWN=a b,c\n", "LAUNCHED=1\n", "uid=0", "seen inside" * 3,
                 "PRONY_EXPERIMENT=" + os.path.basename(d.dirs[0]),
                 "Read-only file system", "models\n"):
        t.check(want in log, "no %r inside: %s" % (want, log))
    t.check("PRONY_TEST_OUTSIDE" not in log, "our environment is inside")
    results = d.result(0)["results"]
    t.check(results.get("answer") == 42, "results of the log: %s" % results)
    with open(os.path.join(d.dirs[0], "channel.ndjson")) as f:
        t.check("spoken" in f.read(), "the channel does not reach inside")
    t.check("max_rss_bytes" not in results, "figures of podman itself")
    wanted = [("failed", "exit status 3", 3),
              ("failed", "the program was not found inside: ", 127),
              ("oom", "lack of memory", 137),
              ("failed", "exit status 139, as of SIGSEGV inside", 139)]
    for i, (status, reason, number) in enumerate(wanted, 1):
        r = d.result(i)
        t.check(r["status"] == status and reason in r["reason"] and
                r["results"].get("exit_status") == number,
                "%s: %s %s %s" % (scripts[i], r["status"], r["reason"],
                                  r["results"]))
        t.check("left behind" not in json.dumps(r), "podman's helpers: %s" % r)


def out_of_time(t, podman):
    """What ignores SIGTERM, with a child that does, too."""
    script = "trap '' TERM; sh -c 'trap \"\" TERM; while :; do sleep 0.1; " \
        "done' & echo up; while :; do sleep 0.1; done"
    began = time.monotonic()
    d = go(t, podman, "-P", "exp.command=" + json.dumps(command(script)),
           "-P", "exp.timeout=1.5", "-P", "exp.grace=0.3")
    r = d.result()
    t.check(d.code == 124 and r["status"] == "timeout", "timeout: %d %s" % (
        d.code, r["status"]))
    t.check("up" in d.log(), "timeout: never ran: %s" % d.log())
    t.check(time.monotonic() - began < 60, "timeout: took too long")
    t.check(not groups(podman), "timeout: control groups are left")
    mark = "PRONY_EXPERIMENT=" + r["id"]
    t.check(wait_until(lambda: not processes_with(mark)),
            "timeout: left inside: %s" % processes_with(mark))


def interrupted(t, podman):
    where = place(t)
    script = "trap 'echo asked; exit 0' TERM; while :; do sleep 0.1; done"
    p = start(["run", "-q", "-o", where] + podman.options(SHELL) +
              ["-P", "exp.command=" + json.dumps(command(script))])

    def inside():
        ids = os.listdir(where + "/experiments") if os.path.isdir(
            where + "/experiments") else []
        return ids and "trap" in "".join(
            cmdline(pid) for pid in processes_with(
                "PRONY_EXPERIMENT=" + ids[0]) if parent_is_conmon(pid))

    t.check(wait_until(inside), "Ctrl-C: does not start")
    time.sleep(0.2)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    d = Did(where, p.returncode, out.decode(), err.decode())
    t.check(d.code == 130, "Ctrl-C: exit %d %s" % (d.code, d.said))
    t.check(d.result()["status"] == "interrupted", "Ctrl-C: %s" % d.result())
    t.check("asked" in d.log(), "Ctrl-C: SIGTERM does not reach inside")


def killed(t, podman):
    """A run that was killed: the next one removes what it left."""
    where, once = place(t), t.path("once")
    os.mkdir(once)
    script = "if [ -e %s/x ]; then exit 0; fi; touch %s/x; sleep 100 & " \
        "sleep 100" % (once, once)
    p = start(["run", "-q", "-o", where, "-P", "exp.data_dir=" + once] +
              podman.options(SHELL) +
              ["-P", "exp.command=" + json.dumps(command(script))])
    t.check(wait_until(lambda: os.path.exists(once + "/x")),
            "kill: does not start")
    p.kill()
    p.communicate(timeout=60)
    mark = "PRONY_EXPERIMENT=" + os.listdir(where + "/experiments")[0]
    t.check(wait_until(lambda: not processes_with(mark)),
            "kill: left inside: %s" % processes_with(mark))
    d = Did(where, *run(["run", "-q", "--resume", where]))
    t.check(d.code == 0 and d.result()["status"] == "ok",
            "kill: resumed: %s" % d.said)
    t.check(not podman("ps", "-aq").stdout.split(), "kill: still listed")


def cmdline(pid):
    try:
        with open("/proc/%d/cmdline" % pid) as f:
            return f.read()
    except OSError:
        return ""


def parent_is_conmon(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            parent = int(f.read().rsplit(")", 1)[1].split()[1])
        with open("/proc/%d/comm" % parent) as f:
            return f.read().strip() == "conmon"
    except (OSError, ValueError, IndexError):
        return False


def refused(t, podman):
    """What cannot start says why, and nothing is fetched."""
    more = []
    if "--no-validation" in run(["help", "run"])[1]:
        more = ["--no-validation"]
        d = go(t, podman, "-P", "exp.command=true", image="prony-test/none:1")
        t.check(d.code and not d.dirs and "prony-test/none:1" in d.said,
                "missing image is not told before: %d %s" % (d.code, d.said))
    d = go(t, podman, "-P", "exp.command=true", *more,
           image="prony-test/none:1")
    r = d.result()
    t.check(r["status"] == "failed" and
            r["reason"].startswith("the container could not be started: ") and
            "none:1" in r["reason"], "missing image: %s" % r["reason"])
    d = go(t, podman, "-P", "exp.command=true", *more, "-P",
           'container.mounts=["%s:/mnt"]' % t.path("nowhere"))
    r = d.result()
    t.check(r["status"] == "failed" and "cannot mount" in r["reason"] and
            t.path("nowhere") in r["reason"], "missing mount: %s" % r)


def in_slots(t, podman):
    """Two at once: each has its processors, memory and variables inside."""
    script = "grep Cpus_allowed_list /proc/self/status; env; " \
        "cat /sys/fs/cgroup/memory.max || " \
        "cat /sys/fs/cgroup/memory/memory.limit_in_bytes"
    d = go(t, podman, "-P", "exp.command=" + json.dumps(command(script)),
           "-P", "suite.slots=[0, 1]", "-V", "suite.slot=[0, 1]",
           "-P", "suite.device=${suite.slot}", "-P", "suite.group=both")
    if not t.check(d.code == 0 and len(d.dirs) == 2, "slots: " + d.said):
        return
    for i in range(2):
        slot, log = d.result(i)["results"]["suite.slot"], d.log(i)
        if "memory_bytes" not in slot or "cgroup" not in slot["cpus_held_by"]:
            print("SKIP: slots of containers; run it where /sys/fs/cgroup can be "
                  "written")
            return
        t.check("Cpus_allowed_list:\t%s\n" % slot["cpus"] in log,
                "slots: other processors than %s: %s" % (slot["cpus"], log))
        t.check("PRONY_SLOT=%d\n" % i in log and
                "OMP_NUM_THREADS=%d\n" % slot["cores"] in log,
                "slots: variables: " + log)
        limit = [int(n) for n in log.split() if n.isdigit()][-1:]
        page = resource.getpagesize()
        t.check(limit == [slot["memory_bytes"] // page * page],
                "slots: memory %s of %s" % (limit, slot["memory_bytes"]))


def trains(t, podman):
    if not own_image(podman, t):
        print("SKIP: training in a container; install libdnnl-dev")
        return
    words = ["-P", "exp.framework=native", "-P", "exp.model=lenet",
             "-P", "exp.replica_batch=4", "-P", "exp.num_batches=3",
             "-P", "nn.peak=false", "-P", "nn.threads=1"]
    os.mkdir(t.path("weights"))
    d = go(t, podman, *words, "-P", "nn.save=weights/new", image=OWN)
    if not t.check(d.dirs and d.result()["status"] == "ok",
                   "training inside: %s %s" % (d.said,
                                               d.log() if d.dirs else "")):
        return
    t.check(os.path.exists(t.path("weights", "new")), "nn.save is lost")
    inside = d.result()["results"]
    where = place(t)
    bare = Did(where, *run(["run", "-q", "-o", where] + words)).result()
    t.check(inside["loss_data"] == bare["results"]["loss_data"],
            "training inside differs from outside")
    t.check(inside.get("time", 0) > 0, "training inside: no time")


def nothing_left(t, podman):
    said = podman("ps", "-aq").stdout.split()
    t.check(not said, "containers left: %s" % said)
    t.check(not processes_with(t.path()), "processes left: %s" % [
        cmdline(p) for p in processes_with(t.path())])
    with open("/proc/self/mounts") as f:
        mounts = [m for m in f if t.path() + "/" in m]
    t.check(not mounts, "mounts left: %s" % mounts)


def groups(podman):
    """Control groups of containers."""
    return [g for top in tops(podman) for g in glob.glob(top + "/libpod-*")]


def tops(podman):
    return glob.glob("/sys/fs/cgroup/%s" % podman.group) + glob.glob(
        "/sys/fs/cgroup/*/%s" % podman.group)


def drop_groups(podman):
    """The group that ours are in is nobody's; podman leaves that of a run
    that was killed."""
    for top in tops(podman):
        for at, _, _ in os.walk(top, topdown=False):
            try:
                os.rmdir(at)
            except OSError:
                pass


def main():
    t = Scratch()
    for program in ("podman", "runc"):
        if not shutil.which(program):
            skip(t, "no %s; install it" % program)
    podman = Podman(t)
    shell_image(podman, t)
    many(t, podman)
    out_of_time(t, podman)
    interrupted(t, podman)
    killed(t, podman)
    refused(t, podman)
    in_slots(t, podman)
    trains(t, podman)
    nothing_left(t, podman)
    drop_groups(podman)
    t.finish("containers: ends, limits, mounts and training inside")


main()
