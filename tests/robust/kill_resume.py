"""The runner is killed with SIGKILL at random moments of a plan of 50
experiments and resumed each time: every experiment ends with exactly one
result, no file is torn, no child is left. Takes the number of kills."""

import os
import random
import signal
import sys
import time

from _robust import Scratch, check_run, processes_with, run, start, wait_until

KILLS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
EXPERIMENTS = 50


def one_plan(t, number, kills_left, rng):
    """Runs one plan to its end through kills; how many there were."""
    directory = t.path("run%d" % number)
    marker = "prony-kill-%d-%d" % (os.getpid(), number)
    values = ",".join(str(i) for i in range(EXPERIMENTS))
    # A grandchild in a session of its own is the hardest to find again.
    first = ["run", "-q", "-o", directory, "-V", "i=[%s]" % values, "-P",
             "exp.command=%s" % '["sh", "-c", "setsid sleep 0.02 & sleep 0.01;'
             ' echo __results.i__= $1; wait", "%s", "${i}"]' % marker]
    args, kills = first, 0
    while True:
        p = start(args, env=dict(os.environ, MARK=marker))
        if kills == kills_left:
            p.communicate(timeout=120)
            break
        try:
            p.wait(rng.uniform(0.0, 0.6))
            break
        except Exception:
            p.kill()
            p.communicate()
            kills += 1
        t.check(wait_until(lambda: not processes_with(marker)),
                "children left after kill %d" % kills)
        if os.path.exists(os.path.join(directory, "plan.json")):
            args = ["run", "-q", "--resume", directory]
        else:
            directory = directory + "x"
            first[first.index("-o") + 1] = directory
            args = first
    t.check(p.returncode == 0, "the last run ended with %d" % p.returncode)
    check_run(t, directory, EXPERIMENTS)
    return kills


def main():
    t = Scratch()
    rng = random.Random(42)
    kills = number = 0
    began = time.monotonic()
    while kills < KILLS and not t.failed:
        kills += one_plan(t, number, KILLS - kills, rng)
        number += 1
    code, _, err = run(["run", "--resume", t.path("nowhere")])
    t.check(code == 5 and "nowhere" in err, "resume of nothing: %s" % err)
    t.finish("%d kills over %d plans of %d experiments in %.0f s: %s"
             % (kills, number, EXPERIMENTS, time.monotonic() - began,
                "FAILED" if t.failed else "every experiment has one result, "
                "no file torn, no child left"))


main()
