"""A full disk, a folder that cannot be written, two runners: nothing is lost
and nothing half-written is left. Needs root for a small file system of its
own; skipped loudly without."""

import os
import subprocess
import sys

from _robust import Scratch, check_run, run, start, wait_until


def full_disk(t, mount):
    d = os.path.join(mount, "run")
    filler = os.path.join(mount, "filler")
    values = ",".join(str(i) for i in range(400))
    # Each log takes 8 KiB of the 1 MiB there is.
    args = ["run", "-o", d, "-V", "i=[%s]" % values, "-P",
            'exp.command=["head", "-c", "8000", "/dev/zero"]']
    code, _, err = run(args)
    t.check(code != 0, "a full disk went unnoticed")
    t.check("No space left" in err or "failed" in err, "no reason: %s" % err)
    for root, _, files in os.walk(d):
        for name in files:
            t.check(not name.startswith("."), "half-made %s" % name)
    # With room again, the run goes on.
    subprocess.run(["mount", "-o", "remount,size=64m", mount], check=True)
    code, _, err = run(["run", "--resume", d, "--retry", "0"])
    t.check(code == 0, "resume after a full disk: %d %s" % (code, err))
    check_run(t, d, 400)


def two_runners(t):
    d = t.path("shared")
    p = start(["run", "-o", d, "-P", 'exp.command=["sleep", "15"]'])
    t.check(wait_until(lambda: os.path.exists(
        os.path.join(d, "plan.json"))), "start")
    code, _, err = run(["run", "-o", d, "-P", 'exp.command=["true"]'])
    t.check(code == 2 and "not empty" in err, "second run: %d %s" % (code, err))
    code, _, err = run(["run", "--resume", d])
    t.check(code == 5 and "another run" in err,
            "second resume: %d %s" % (code, err))
    p.terminate()
    p.communicate(timeout=20)


def main():
    t = Scratch()
    two_runners(t)
    mount = t.path("small")
    os.mkdir(mount)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none",
                           mount], stderr=subprocess.DEVNULL).returncode == 0
    if made:
        try:
            full_disk(t, mount)
        finally:
            subprocess.run(["umount", "-l", mount])
    else:
        print("SKIP: full disk: no rights to mount; run it as root")
        if not t.failed:
            t.dir.cleanup()
            sys.exit(77)
    t.finish("full disk and two runners")


main()
