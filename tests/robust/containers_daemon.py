"""Containers that a daemon holds, as docker's does: the processes inside are
not those of the program that is started, so that a signal to it ends nothing.
The daemon is a thread here, the program a script named docker that talks to
it; what runs "inside" is no container at all."""

import glob
import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
import time

from _robust import Scratch, processes_with, run, start, wait_until

CLIENT = """#!%s
import json, os, signal, socket, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
s = socket.socket(socket.AF_UNIX)
s.connect(%r)
f = s.makefile("rwb")
f.write(json.dumps([sys.argv[1:], os.environ.get("OWN", "")]).encode()
        + b"\\n")
f.flush()
answer = json.loads(f.readline())
sys.stdout.write(answer[1])
sys.stdout.flush()
sys.exit(answer[0])
"""


def end(process):
    """A container ends with everything inside."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


class Daemon:
    """Boxes by name, and every command line that it was asked."""

    def __init__(self, t):
        self.boxes, self.asked, self.lock = {}, [], threading.Lock()
        self.broken = set()  # verbs that fail
        daemon = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                argv, own = json.loads(self.rfile.readline())
                daemon.asked.append((argv, own))
                try:
                    answer = daemon.answer(argv)
                except KeyError as e:
                    answer = (1, "Error: No such container: %s\n" % e)
                try:
                    self.wfile.write(json.dumps(answer).encode() + b"\n")
                except OSError:
                    pass  # it was killed meanwhile

        class Server(socketserver.ThreadingMixIn,
                     socketserver.UnixStreamServer):
            daemon_threads = True

        self.server = Server(t.path("socket"), Handler)
        threading.Thread(target=self.server.serve_forever,
                         daemon=True).start()
        os.mkdir(t.path("bin"))
        for name in ("docker", "nvidia-docker"):
            path = t.path("bin", name)
            with open(path, "w") as f:
                f.write(CLIENT % (sys.executable, t.path("socket")))
            os.chmod(path, 0o755)

    def answer(self, argv):
        if argv[0] in self.broken:
            return 1, "the daemon has a bad day\n"
        if argv[0] == "run":
            return self.run(argv)
        name = argv[-1]
        if argv[:2] == ["image", "inspect"]:
            return 0, "sha256:0\n"
        if argv[0] in ("version", "info") or argv[0].startswith("--"):
            return 0, "fake\n"
        with self.lock:
            box = self.boxes[name]
        if argv[0] == "kill":
            end(box["process"])
            return 0, name + "\n"
        if argv[:2] == ["container", "inspect"]:
            return 0, "WARNING: none\n%d %s\n" % (
                box["process"].wait(), "true" if box["oom"] else "false")
        if argv[0] == "rm":
            end(box["process"])
            with self.lock:
                del self.boxes[name]
            return 0, name + "\n"
        return 1, "what is '%s'?\n" % argv[0]

    def run(self, argv):
        if "nothing:1" in argv:
            return 125, "docker: Error response from daemon: no nothing:1\n"
        name = argv[argv.index("--name") + 1]
        at = argv.index("image:1")
        env = dict(argv[i + 1].split("=", 1) for i, w in enumerate(argv[:at])
                   if w == "--env")
        process = subprocess.Popen(argv[at + 1:], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL,
                                   start_new_session=True, env=dict(
                                       env, PATH=os.environ["PATH"]))
        with self.lock:
            self.boxes[name] = {"process": process, "oom": "OOM" in env}
        out = process.communicate()[0].decode()
        return process.returncode & 255, out


NUMBER = [0]


def words(t, extra, image="image:1"):
    NUMBER[0] += 1
    where = t.path("out-%d" % NUMBER[0])
    return where, ["run", "-q", "-o", where, "-P", "exp.docker=true",
                   "-P", "exp.docker_image=" + image] + extra


def go(t, *extra, **more):
    where, args = words(t, list(extra), **more)
    code, out, err = run(args)
    return code, result_of(where), out + err


def result_of(where):
    found = glob.glob(where + "/experiments/*/result.json")
    if not found:
        return {}
    with open(found[0]) as f:
        return json.load(f)


def sleeper(mark):
    return ["-P", "exp.command=" + json.dumps(
        ["sh", "-c", "echo up; sleep 100 & wait", mark])]


def verbs(daemon, since):
    return [" ".join(a[:2]) if a[0] == "container" else a[0]
            for a, _ in daemon.asked[since:] if a[0] not in ("image", "info",
                                                             "version")]


def ends(t, daemon):
    since = len(daemon.asked)
    code, r, said = go(t, "-P", "exp.command=echo '__results.x__= 5'",
                       "-P", "runtime.env.OWN=inside")
    t.check(code == 0 and r["results"].get("x") == 5, "ok: %s" % said)
    t.check(verbs(daemon, since) == ["run", "rm"], "ok: asked %s"
            % verbs(daemon, since))
    argv, own = [a for a in daemon.asked[since:] if a[0][0] == "run"][0]
    t.check(own == "", "docker itself has the experiment's environment")
    for want in (["--env", "OWN=inside"], ["--shm-size=1g"], ["--ipc=host"]):
        t.check(any(argv[i:i + len(want)] == want for i in range(len(argv))),
                "ok: no %s in %s" % (want, argv))
    t.check("--rm" not in argv, "--rm: the end could not be asked for")
    since = len(daemon.asked)
    code, r, _ = go(t, "-P", 'exp.command=["sh", "-c", "exit 9"]',
                    "-P", "runtime.env.OOM=1")
    t.check(code == 1 and r["status"] == "oom", "oom: %s" % r)
    t.check(verbs(daemon, since) == ["run", "container inspect", "rm"],
            "oom: asked %s" % verbs(daemon, since))
    code, r, _ = go(t, "-P", "exp.command=true", image="nothing:1")
    t.check(r.get("status") == "failed" and r["reason"] ==
            "the container could not be started: docker: Error response from "
            "daemon: no nothing:1", "125: %s" % r)
    t.check(not daemon.boxes, "boxes left: %s" % daemon.boxes)


def out_of_time(t, daemon):
    mark = "prony-daemon-%d-a" % os.getpid()
    began = time.monotonic()
    since = len(daemon.asked)
    code, r, _ = go(t, *sleeper(mark), "-P", "exp.timeout=1",
                    "-P", "exp.grace=0.2")
    t.check(code == 124 and r["status"] == "timeout", "timeout: %s" % r)
    t.check(time.monotonic() - began < 60, "timeout: took long")
    t.check(verbs(daemon, since) == ["run", "kill", "container inspect", "rm"],
            "timeout: asked %s" % verbs(daemon, since))
    t.check(wait_until(lambda: not [p for p in processes_with(mark)]) and
            not daemon.boxes, "timeout: the daemon still holds it")


def interrupted(t, daemon):
    mark = "prony-daemon-%d-b" % os.getpid()
    where, args = words(t, sleeper(mark) + ["-P", "exp.grace=0.2"])
    p = start(args)
    t.check(wait_until(lambda: daemon.boxes), "Ctrl-C: does not start")
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=60)
    t.check(p.returncode == 130, "Ctrl-C: exit %d" % p.returncode)
    t.check(result_of(where)["status"] == "interrupted", "Ctrl-C: status")
    t.check(not daemon.boxes, "Ctrl-C: the daemon still holds it")


def killed(t, daemon):
    """A run that was killed leaves it to the next one."""
    mark = "prony-daemon-%d-c" % os.getpid()
    where, args = words(t, sleeper(mark) + ["-P", "exp.timeout=1",
                                            "-P", "exp.grace=0"])
    p = start(args)
    t.check(wait_until(lambda: daemon.boxes), "kill: does not start")
    p.kill()
    p.communicate(timeout=60)
    old = list(daemon.boxes)
    t.check(old and processes_with(mark), "kill: the daemon does not hold it")
    code, out, err = run(["run", "-q", "--resume", where])
    t.check(code == 124 and result_of(where)["status"] == "timeout",
            "kill: resumed: %d %s" % (code, err))
    t.check(not daemon.boxes and wait_until(
        lambda: not processes_with(mark)), "kill: still there: %s" % old)
    left = glob.glob(where + "/experiments/*/container")
    t.check(not left, "kill: %s is left" % left)


def bad_day(t, daemon):
    """A container that cannot be removed is told."""
    daemon.broken = {"rm"}
    code, r, _ = go(t, "-P", "exp.command=true")
    daemon.broken = set()
    t.check(code == 0 and r["status"] == "ok", "bad day: %s" % r)
    t.check("could not be removed" in json.dumps(r), "bad day: not told")
    t.check(list(daemon.boxes)[0] in json.dumps(r), "bad day: no name")
    daemon.boxes.clear()


def main():
    t = Scratch()
    daemon = Daemon(t)
    os.environ["PATH"] = t.path("bin") + ":" + os.environ["PATH"]
    ends(t, daemon)
    out_of_time(t, daemon)
    interrupted(t, daemon)
    killed(t, daemon)
    bad_day(t, daemon)
    daemon.server.shutdown()
    t.finish("containers of a daemon: ends, limits, and none is left")


main()
