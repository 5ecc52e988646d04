"""Limits of the system, each at many values: open files, the size of files,
memory, the stack, processes, room on a disk. Whatever they stop ends with a
message and a status of ours, never by a signal; with none of them prony works.
"""

import os
import resource
import subprocess
import sys

from _robust import PRONY, Scratch

OURS = {0, 1, 4, 5, 6, 71}
MIB = 1 << 20


def tries(t):
    """What is tried under each limit."""
    data = ["dataset.format=npy", "dataset.num_files_train=4",
            "dataset.record_length_bytes=70000"]
    return {
        "plan": ["plan", "-P", "exp.command=true", "-V", "i=[1,2,3]"],
        "run": ["run", "-q", "-o", t + "/run", "-P", "exp.command=true",
                "-V", "i=[1,2]"],
        "generate": ["generate", "dataset.data_folder=" + t + "/made"] + data,
        "train": ["run", "-q", "-o", t + "/train", "exp.workload=emulate",
                  "workflow.generate_data=true", "reader.batch_size=1",
                  "dataset.data_folder=" + t + "/data"] + data,
    }


def one(t, name, args, limit, value, user=None):
    def narrow():
        resource.setrlimit(limit, (value, value))

    p = subprocess.run([PRONY] + args, preexec_fn=narrow, user=user,
                       capture_output=True, stdin=subprocess.DEVNULL,
                       timeout=120, check=False, cwd="/")
    said = p.stderr.decode(errors="replace")
    what = "%s, limit %d of %d" % (name, limit, value)
    # The loader's own complaint: prony did not come to start.
    if p.returncode == 127 and "error while loading" in said:
        return None
    t.check(p.returncode in OURS, "%s: status %d %s" % (
        what, p.returncode, said[-300:]))
    t.check(p.returncode == 0 or said.strip(), "%s: without a word" % what)
    t.check("storage.storage_root must" not in said,
            "%s: blames the storage: %s" % (what, said))
    return p.returncode


def sweep(t, limit, values, user=None):
    good = bad = 0
    for value in values:
        for name in ("plan", "run", "generate", "train"):
            folder = t.path("%d-%d-%s" % (limit, value, name))
            os.mkdir(folder)
            os.chmod(folder, 0o777)
            code = one(t, name, tries(folder)[name], limit, value, user)
            good += code == 0
            bad += code not in (0, None)
    t.check(good and (bad or user), "limit %d: %d good and %d bad: this test "
            "proves little" % (limit, good, bad))


def small_disk(t):
    mount = t.path("small")
    os.mkdir(mount)
    for kib in (16, 64, 200, 2000):
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk" % kib,
                           "none", mount], capture_output=True,
                          check=False).returncode:
            print("SKIP: a full disk: no rights to mount; run it as root")
            return
        try:
            for name in ("run", "generate", "train"):
                folder = os.path.join(mount, name)
                os.mkdir(folder)
                one(t, name, tries(folder)[name], resource.RLIMIT_CORE, 0)
                subprocess.run(["rm", "-rf", folder], check=True)
        finally:
            subprocess.run(["umount", "-l", mount], check=False)


def main():
    t = Scratch()
    os.chmod(t.dir.name, 0o755)
    sweep(t, resource.RLIMIT_NOFILE, (4, 6, 8, 10, 12, 14, 18, 24, 40))
    sweep(t, resource.RLIMIT_FSIZE, (0, 1000, 4096, 20000, 100000, 10 * MIB))
    sweep(t, resource.RLIMIT_AS, [n * MIB for n in (8, 10, 14, 18, 28, 4096)])
    sweep(t, resource.RLIMIT_DATA, [n * MIB for n in (2, 4, 8, 16, 512)])
    sweep(t, resource.RLIMIT_STACK, (256 << 10, MIB, 8 * MIB), user=65534)
    if os.getuid() == 0 and not PRONY.startswith("/root"):
        sweep(t, resource.RLIMIT_NPROC, (1, 2, 3, 400), user=65533)
    else:
        print("SKIP: the limit of processes takes another user; run it as root")
    small_disk(t)
    t.finish("limits of the system")


main()
