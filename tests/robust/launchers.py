"""Several tasks of one job, started by a real srun and a real mpirun: none of
them does the work of all. Starts a Slurm of its own on loopback, with a munge of
its own, and ends it. Skipped loudly, part by part, where one is not there."""

import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

from _robust import PRONY, Scratch, wait_until

SRC = os.environ["SRC"]
CONF = """ClusterName=prony
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge.sock
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool-%n
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd-%n.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MailProg=/bin/true
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 \
Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=500
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 \
Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=500
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
TRAIN = ["workload=default", "++workload.workflow.generate_data=True",
         "++workload.workflow.evaluation=False", "++workload.train.epochs=1",
         "++workload.train.computation_time=0.001"]


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Slurm:
    """A controller and two nodes, all of them on this machine."""

    def __init__(self, t):
        self.children = []
        self.dir = t.path("slurm")
        os.makedirs(self.dir + "/state")
        conf = self.dir + "/slurm.conf"
        with open(conf, "w", encoding="utf-8") as f:
            f.write(CONF.format(dir=self.dir, ports=free_ports(3)))
        with open(self.dir + "/key", "wb") as f:
            f.write(os.urandom(1024))
        os.chmod(self.dir + "/key", 0o400)
        self.env = dict(os.environ, SLURM_CONF=conf, PRONY_SHARE=SRC)
        self.spawn(["munged", "--foreground", "--force", "--num-threads=2",
                    "--key-file=" + self.dir + "/key",
                    "--socket=" + self.dir + "/munge.sock",
                    "--pid-file=" + self.dir + "/munged.pid",
                    "--log-file=" + self.dir + "/munged.log",
                    "--seed-file=" + self.dir + "/seed"])
        wait_until(lambda: os.path.exists(self.dir + "/munge.sock"))
        self.spawn(["slurmctld", "-D", "-c", "-f", conf])
        for node in ("n1", "n2"):
            self.spawn(["slurmd", "-D", "-N", node, "-f", conf])

    def spawn(self, command):
        with open(self.dir + "/daemons.log", "ab") as log:
            self.children.append(subprocess.Popen(
                command, env=self.env, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log))

    def is_up(self):
        got = subprocess.run(["sinfo", "-h", "-o", "%t %D"], env=self.env,
                             capture_output=True, text=True, check=False)
        return got.stdout.split() == ["idle", "2"]

    def end(self):
        for p in reversed(self.children):
            p.send_signal(signal.SIGTERM)
        for p in reversed(self.children):
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()


def call(command, where, env):
    os.makedirs(where + "/tmp", exist_ok=True)
    return subprocess.run(command, cwd=where, stdin=subprocess.DEVNULL,
                          env=dict(env, TMPDIR=where + "/tmp"),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=120, check=False)


def refuses(t, launch, name, env):
    """prony itself: an error in each task, and nothing is written."""
    where = t.path(name)
    got = call(launch + [PRONY, "run", "-q", "null", "-o", "out"], where, env)
    t.check(got.returncode != 0, "%s: status 0" % name)
    t.check(got.stdout.count("as 2 processes") == 2,
            "%s: not every task says it: %s" % (name, got.stdout[-900:]))
    t.check(not os.path.exists(where + "/out"), name + ": it was run")


def emulates(t, launch, count, name, env):
    """As dlio_benchmark, on one machine: one does it for all."""
    where = t.path(name)
    os.makedirs(where)
    os.symlink(PRONY, where + "/dlio_benchmark")
    got = call(launch + ["./dlio_benchmark", "++hydra.run.dir=out"] + TRAIN,
               where, env)
    if not t.check(got.returncode == 0, "%s: %s" % (name, got.stdout[-900:])):
        return
    with open(where + "/out/summary.json", encoding="utf-8") as f:
        told = json.load(f)["num_accelerators"]
    t.check(told == count, "%s: %s accelerators" % (name, told))
    t.check(len(glob.glob(where + "/out/prony*")) == 1, name + ": run twice")


def by_slurm(t):
    slurm = Slurm(t)
    try:
        if not t.check(wait_until(slurm.is_up), "Slurm does not start: "
                       + open(slurm.dir + "/daemons.log").read()[-900:]):
            return
        refuses(t, ["srun", "-n2"], "srun", slurm.env)
        refuses(t, ["srun", "-N2", "-n2"], "srun on two", slurm.env)
        emulates(t, ["srun", "-N1", "-n4"], 4, "srun as DLIO", slurm.env)
        got = call(["srun", "-N2", "-n2", os.path.join(
            t.path("srun as DLIO"), "dlio_benchmark")] + TRAIN,
            t.path("two as DLIO"), slurm.env)
        t.check(got.returncode != 0 and "several machines" in got.stdout,
                "two machines: %s" % got.stdout[-900:])
        t.check(not glob.glob(t.path("two as DLIO", "hydra_log", "*")),
                "two machines: it was run")
        for name, launch in (  # one process is one process
                ("one", ["srun", "-n1"]),
                ("in an allocation", ["salloc", "-Q", "-n4"])):
            where = t.path(name)
            got = call(launch + [PRONY, "run", "-q", "null", "-o", "out"],
                       where, slurm.env)
            t.check(got.returncode == 0, "%s: %s" % (name, got.stdout[-900:]))
    finally:
        slurm.end()


def by_mpi(t):
    mpirun = ["mpirun", "--oversubscribe", "-np"]
    if os.geteuid() == 0:
        mpirun.insert(1, "--allow-run-as-root")
    env = dict(os.environ, PRONY_SHARE=SRC)
    refuses(t, mpirun + ["2"], "mpirun", env)
    emulates(t, mpirun + ["4"], 4, "mpirun as DLIO", env)


def main():
    t = Scratch()
    ran = 0
    missing = [p for p in ("slurmctld", "slurmd", "srun", "munged")
               if not shutil.which(p)]
    if missing or os.geteuid() != 0:
        print("SKIP: Slurm, for there is no %s; install it, as root"
              % (", ".join(missing) or "root to start it"))
    else:
        by_slurm(t)
        ran += 1
    if not shutil.which("mpirun"):
        print("SKIP: no mpirun; install openmpi-bin")
    else:
        by_mpi(t)
        ran += 1
    if not ran:
        t.dir.cleanup()
        sys.exit(77)
    t.finish("tasks of one job by %d of 2 launchers" % ran)


main()
