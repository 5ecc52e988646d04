"""Slots in control groups of version 2, for real: boots Debian's cloud kernel
in QEMU (emulated, no KVM) with the unit tests of slots in it, in the places a
process may find itself: the root group, a group of its own, a group with
strangers in it, too few controllers, no right to write, a read-only mount.
Needs qemu-system-x86, busybox-static and a kernel, which is taken from /boot or
downloaded by apt-get into the build folder; skipped loudly without."""

import glob
import os
import re
import shutil
import subprocess
import sys

from _robust import PRONY, Scratch

TESTS = ["test_launch_slots", "test_launch_slots_end",
         "test_launch_slots_named"]
DEADLINE_S = 300
BUILD = os.path.join(os.path.dirname(os.path.abspath(PRONY)), "tests")
BOTH = "echo +cpuset +memory > $CG/cgroup.subtree_control"
HELD = "cgroup v2, cgroup v2"

# A name; sh that prepares it; how slots are held there; the tests.
PLACES = [
    ("root", "", HELD, TESTS[:2]),
    ("own", BOTH + "; enter own", HELD, TESTS),
    ("strangers", BOTH + "; enter strangers; sleep 1000 & stranger=$!", HELD,
     TESTS[1:2]),
    ("memory", "echo -cpuset +memory > $CG/cgroup.subtree_control; "
     "enter memory", "CPU affinity, cgroup v2", TESTS[:1]),
    ("nobody", BOTH + "; enter nobody; who=nobody",
     "CPU affinity, nothing", TESTS[:1]),
    ("readonly", "mount -o remount,ro $CG", "CPU affinity, nothing",
     TESTS[:1]),
]

INIT = """#!/bin/busybox sh
export PATH=/bin CG=/sys/fs/cgroup HOME=/tmp TMPDIR=/tmp
mkdir -p /proc /sys /dev /tmp /usr /etc
ln -s /bin /usr/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
chmod 1777 /tmp
mount -t cgroup2 none $CG
echo root:x:0:0::/:/bin/sh > /etc/passwd
echo nobody:x:65534:65534::/:/bin/sh >> /etc/passwd
enter() { mkdir -p $CG/$1; echo $$ > $CG/$1/cgroup.procs; }
"""

PLACE = """
echo
echo "PLACE %(name)s"
who=root
stranger=
%(setup)s
enabled=$(cat $CG/cgroup.subtree_control)
export PRONY_TEST_HOLD="%(held)s"
for t in %(tests)s; do
    su $who -c $t
    echo "STATUS $t $?"
done
mount -o remount,rw $CG
echo "GROUP $(cat /proc/self/cgroup)"
[ "$stranger" ] && kill $stranger
[ "$(cat $CG/cgroup.subtree_control)" = "$enabled" ] || echo "LEFT enabled"
echo $$ > $CG/cgroup.procs
find $CG -name 'prony-*' | sed 's/^/LEFT /'
echo -cpuset -memory > $CG/cgroup.subtree_control
"""


def skip(t, why):
    t.dir.cleanup()
    print("SKIP: " + why)
    sys.exit(77)


def newest_package():
    """The name of the cloud kernel that apt would install."""
    out = subprocess.run(["apt-cache", "depends", "linux-image-cloud-amd64"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=False).stdout.decode()
    m = re.search(r"Depends: (linux-image-\S+)", out)
    return m and m.group(1)


def find_kernel(t):
    """A kernel of Debian's for clouds: small, with all it needs built in."""
    kept = os.path.join(BUILD, "kernel")
    for pattern in ("/boot/vmlinuz-*-cloud-amd64", kept + "/vmlinuz-*"):
        found = sorted(glob.glob(pattern))
        if found:
            return found[-1]
    package = shutil.which("apt-get") and newest_package()
    if not package:
        return None
    os.mkdir(t.path("deb"))
    subprocess.run(["apt-get", "-q", "download", package], cwd=t.path("deb"),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=False, timeout=120)
    for deb in glob.glob(t.path("deb", "*.deb")):
        subprocess.run(["dpkg-deb", "-x", deb, t.path("deb", "x")],
                       check=True)
    found = glob.glob(t.path("deb", "x", "boot", "vmlinuz-*"))
    if not found:
        return None
    os.makedirs(kept, exist_ok=True)
    return shutil.copy(found[0], kept)


def libraries(program):
    out = subprocess.run(["ldd", program], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False)
    return re.findall(r"(/\S+)", out.stdout.decode())


def script():
    text = INIT
    for name, setup, held, tests in PLACES:
        text += PLACE % {"name": name, "setup": setup, "held": held,
                         "tests": " ".join(tests)}
    return text + "echo ALL DONE\npoweroff -f\n"


def make_initrd(t, programs):
    top = t.path("initrd")
    os.makedirs(os.path.join(top, "bin"))
    busybox = shutil.which("busybox")
    shutil.copy(busybox, os.path.join(top, "bin", "busybox"))
    for applet in subprocess.run([busybox, "--list"], stdout=subprocess.PIPE,
                                 check=True).stdout.decode().split():
        if applet != "busybox":
            os.symlink("busybox", os.path.join(top, "bin", applet))
    for program in programs:
        shutil.copy(program, os.path.join(top, "bin"))
        subprocess.run(["strip", os.path.join(top, "bin",
                                              os.path.basename(program))],
                       check=False)
        for lib in libraries(program):
            os.makedirs(top + os.path.dirname(lib), exist_ok=True)
            shutil.copy(lib, top + lib)
    with open(os.path.join(top, "init"), "w") as f:
        f.write(script())
    os.chmod(os.path.join(top, "init"), 0o755)
    with open(t.path("initrd.cpio"), "wb") as out:
        names = subprocess.run(["find", "."], cwd=top, check=True,
                               stdout=subprocess.PIPE).stdout
        subprocess.run([busybox, "cpio", "-o", "-H", "newc"], cwd=top,
                       input=names, stdout=out, stderr=subprocess.DEVNULL,
                       check=True)
    return t.path("initrd.cpio")


def boot(t, kernel, initrd):
    qemu = ["qemu-system-x86_64", "-accel", "tcg", "-smp", "2", "-m", "768",
            "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio",
            "-net", "none", "-kernel", kernel, "-initrd", initrd,
            "-append", "console=ttyS0 quiet panic=-1"]
    try:
        out = subprocess.run(qemu, stdin=subprocess.DEVNULL, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             timeout=DEADLINE_S).stdout
    except subprocess.TimeoutExpired as e:
        out = e.stdout or b""
        t.check(False, "not done after %d s" % DEADLINE_S)
    return out.decode(errors="replace").replace("\r", "")


def judge(t, text):
    good = t.check("ALL DONE" in text, "it did not get to the end")
    parts = dict(re.findall(r"^PLACE (\w+)\n(.*?)(?=^PLACE|\Z)", text,
                            re.M | re.S))
    for name, _, held, tests in PLACES:
        part = parts.get(name, "")
        for test in tests:
            good &= t.check("STATUS %s 0\n" % test in part,
                            "%s: %s" % (name, test))
        good &= t.check("LEFT" not in part, name + ": something is left")
        here = "" if name in ("root", "readonly") else name
        good &= t.check("GROUP 0::/%s\n" % here in part,
                        name + ": not where we were before")
    if not good:
        print(text)


def main():
    t = Scratch()
    programs = [os.path.join(BUILD, name) for name in TESTS]
    for program in ("qemu-system-x86_64", "busybox"):
        if not shutil.which(program):
            skip(t, "no %s; install it" % program)
    if not all(map(os.path.exists, programs)):
        skip(t, "no unit tests in this build; install libcmocka-dev")
    kernel = find_kernel(t)
    if not kernel:
        skip(t, "no kernel for a virtual machine; install linux-image-cloud-amd64 "
             "or let apt-get download it")
    text = boot(t, kernel, make_initrd(t, programs))
    judge(t, text)
    t.finish("slots were held in %d places of version 2" % len(PLACES))


main()
