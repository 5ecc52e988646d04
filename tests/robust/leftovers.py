"""Descendants that live long, in a session of their own and without any
environment: none outlives its run. The keeper is killed, the runner is, both
are at the same instant; a resumed run ends what is left before it measures,
and says so. With a control group and without one. Takes how often."""

import glob
import json
import os
import signal
import subprocess
import sys

from _robust import PRONY, Scratch, wait_until

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
# Nobody else's sleep takes as long.
NAP = "98765.%d" % os.getpid()
# What hides control groups from what it starts: none, those of version 2, all.
WAYS = {"group": [],
        "freezer": "/sys/fs/cgroup/unified",
        "no group": "/sys/fs/cgroup"}
# The first time daemons are left; then their number is what is measured.
SCRIPT = """
if [ -e "$0.again" ]; then
    echo __results.beside__= $(pgrep -fxc "sleep %(nap)s")
    exit 0
fi
: >"$0.again"
(env -i setsid sh -c 'sleep %(nap)s & exec sleep %(nap)s' &)
(setsid sleep %(nap)s </dev/null >/dev/null 2>&1 &)
(env -i setsid sh -c '%(more)s exec sleep %(nap)s' &)
exec sleep %(nap)s
"""
DAEMONS = 4


def naps(nap):
    """Pids of the daemons, and of the script's own sleep."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                if f.read() == b"sleep\0" + nap.encode() + b"\0":
                    found.append(int(pid))
        except OSError:
            pass
    return found


def keeper_of(runner):
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as f:
                text = f.read()
        except OSError:
            continue
        if "(prony-keeper)" in text and \
                int(text.rsplit(")", 1)[1].split()[1]) == runner:
            return int(path.split("/")[2])
    return 0


def events_of(directory):
    with open(os.path.join(directory, "events.ndjson")) as f:
        return [json.loads(line) for line in f]


class Case:
    """A run whose experiment has left daemons and goes on."""

    def __init__(self, t, name, way):
        self.t = t
        self.hide = way == "no group"
        self.way = way
        self.nap = "%s%03d" % (NAP, Case.number)
        Case.number += 1
        self.name = "%s (%s)" % (name, way)
        self.dir = t.path("run-" + self.nap)
        script = t.path("script-%s.sh" % self.nap)
        with open(script, "w") as f:
            # Who takes the mark off is found by the group alone.
            f.write(SCRIPT % {"nap": self.nap, "more": "" if self.hide
                              else "ulimit -S -x unlimited;"})
        self.p = self.start("-o", self.dir, "-P", "exp.command=%s"
                            % json.dumps(["bash", script]))
        self.check(wait_until(lambda: len(naps(self.nap)) == DAEMONS + 1),
                   "it does not start: %s" % naps(self.nap))
        self.keeper = keeper_of(self.p.pid)
        self.check(self.keeper > 0, "no keeper")
        group = events_of(self.dir)[0].get("group", "")
        self.check(bool(group) != self.hide and
                   (way != "freezer" or "/freezer" in group),
                   "its group is '%s'" % group)
        self.group = group

    number = 0

    def start(self, *args):
        return subprocess.Popen(
            hidden(self.way) + [PRONY, "run", *args],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def check(self, good, text):
        return self.t.check(good, "%s: %s" % (self.name, text))

    def kill(self, *pids):
        """At once: the runner last, whose death wakes a stopped keeper."""
        for signo in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                os.kill(pid, signo)
        self.p.communicate(timeout=60)
        wait_until(lambda: len(naps(self.nap)) <= DAEMONS)

    def none_left(self, when):
        self.check(wait_until(lambda: not naps(self.nap)),
                   "%s: %d are left" % (when, len(naps(self.nap))))
        self.check(not self.group or
                   wait_until(lambda: not os.path.exists(self.group)),
                   "%s: the group is left" % when)

    def resume(self, left):
        p = self.start("--resume", self.dir)
        _, err = p.communicate(timeout=60)
        self.check(p.returncode == 0, "resumed: %d, %s" % (p.returncode, err))
        result, = glob.glob(self.dir + "/experiments/*/result.json")
        with open(result) as f:
            beside = json.load(f)["results"].get("beside")
        self.check(beside == 0, "measured beside %s" % beside)
        said = [e["reason"] for e in events_of(self.dir)
                if e["event"] == "leftovers"]
        want = "ended %d processes that a run which was killed had left" % left
        # Any run ends what it finds in a group: another one may have been
        # faster.
        self.check(not said if not left else not self.hide and not said or
                   len(said) == 1 and said[0].startswith(want) and want in err,
                   "it says %s, %s" % (said, err))
        self.none_left("after the end")


def keeper_killed(t, way):
    c = Case(t, "keeper killed", way)
    os.kill(c.keeper, signal.SIGKILL)
    c.p.communicate(timeout=60)
    c.none_left("keeper killed")
    c.resume(0)


def runner_killed(t, way):
    c = Case(t, "runner killed", way)
    c.kill(c.p.pid)
    c.none_left("runner killed")
    c.resume(0)


def both_killed(t, way):
    c = Case(t, "both killed", way)
    c.kill(c.keeper, c.p.pid)
    c.check(not c.hide or len(naps(c.nap)) >= DAEMONS,
            "%d daemons" % len(naps(c.nap)))
    c.resume(DAEMONS)


def two_at_once(t, way):
    """One is killed and resumed; the other one does not notice."""
    other = Case(t, "beside another", way)
    c = Case(t, "two at once", way)
    c.kill(c.keeper, c.p.pid)
    c.resume(DAEMONS)
    other.check(len(naps(other.nap)) == DAEMONS + 1 and
                other.p.poll() is None, "was disturbed")
    other.p.send_signal(signal.SIGINT)
    other.p.send_signal(signal.SIGINT)
    other.p.communicate(timeout=60)
    other.none_left("interrupted")
    other.resume(0)


def new_run(t, way):
    """With a group, a run elsewhere ends it, too."""
    c = Case(t, "another run", way)
    c.kill(c.keeper, c.p.pid)
    p = c.start("-o", c.dir + "-new", "-P", "exp.command=true")
    _, err = p.communicate(timeout=60)
    c.check(p.returncode == 0, err)
    c.none_left("another run")


def made_up(t):
    """A folder that looks like a group: whom it lists is left alone."""
    folder, group = t.path("made up"), t.path("prony-run-00000001")
    run = [PRONY, "run", "-q", "-P", "exp.command=true", "-o", folder]
    subprocess.run(run, capture_output=True, check=True)
    events = [e for e in events_of(folder) if e["event"] != "run_end"]
    events[0]["group"] = group
    with open(os.path.join(folder, "events.ndjson"), "w") as f:
        f.writelines(json.dumps(e) + "\n" for e in events)
    os.mkdir(group)
    with subprocess.Popen(["sleep", NAP]) as other:
        with open(os.path.join(group, "cgroup.procs"), "w") as f:
            f.write("%d\n" % other.pid)
        subprocess.run([PRONY, "run", "-q", "--resume", folder],
                       capture_output=True, check=True)
        t.check(other.poll() is None, "a made-up group was ended")
        other.kill()


def hidden(way):
    if not WAYS[way]:
        return []
    return ["unshare", "-m", "sh", "-c",
            'mount -t tmpfs none %s && exec "$@"' % WAYS[way], "sh"]


def works(t, way):
    """Whether runs can be tried so; else says why not."""
    folder = t.path("try " + way)
    p = subprocess.run(hidden(way) + [PRONY, "run", "-q", "-o", folder, "-P",
                                      "exp.command=true"],
                       capture_output=True, text=True, check=False)
    if p.returncode:
        print("not tried, %s: %s" % (way, p.stderr.strip()))
        return False
    group = events_of(folder)[0].get("group", "")
    good = {"group": bool(group), "freezer": "/freezer" in group,
            "no group": not group}[way]
    if not good:
        print("not tried, %s: the group is '%s'" % (way, group))
    return good


def main():
    t = Scratch()
    if os.geteuid() and not works(t, "group"):
        WAYS.update({"no group": []})  # nothing to hide
        WAYS.pop("group")
    ways = [way for way in WAYS if works(t, way)]
    t.check("no group" in ways, "cannot be tried without a group")
    made_up(t)
    cases = [keeper_killed, runner_killed, both_killed, two_at_once]
    for _ in range(ROUNDS):
        for way in ways:
            for case in cases + ([new_run] if way != "no group" else []):
                case(t, way)
    for number in range(Case.number):
        for pid in naps("%s%03d" % (NAP, number)):
            os.kill(pid, signal.SIGKILL)
    t.finish("%d rounds (%s): %s" % (
        ROUNDS, ", ".join(ways),
        "FAILED" if t.failed else "no process outlives its run"))


main()
