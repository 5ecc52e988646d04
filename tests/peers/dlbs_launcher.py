#!/usr/bin/env python3
"""Back-end scripts as DLBS has them, started by `prony run`: arguments,
environment, log file with its head, results, and what becomes of a script that
fails, skips, hangs, is retried or resumed. The scripts are written from DLBS's
contract alone and know nothing of Prony."""
import ast
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.path.abspath(os.environ.get("PRONY")
                        or os.path.join(SRC, "build", "prony"))
LINE = re.compile(r"[ \t]*__(.+?(?=__[ \t]*[=]))__[ \t]*=(.+)")

# The parse loop of a script that sources nothing.
LOOP = r"""#!/bin/bash
while [ $# -gt 0 ]; do
    [[ "$1" == --* && "$1" != *=* ]] || { echo "bad option $1"; exit 9; }
    name=${1#--}
    printf -v "${name//-/_}" '%s' "$2"
    shift 2
done
"""

# What most of DLBS's own scripts look like.
PLAIN = r"""#!/bin/bash
unknown_params_action=set
. "$DLBS_ROOT/scripts/parse_options.sh" || exit 1
. "$DLBS_ROOT/scripts/utils.sh"
loginfo "$0 $*" >> ${exp_log_file}
echo "__exp.framework_title__=\"MXNet\"" >> ${exp_log_file}
__batch_file__="$(dirname ${exp_log_file})/${exp_framework}_${exp_device_type}_${exp_model}.batch"
if [ "${exp_ignore_past_errors}" != "true" ]; then
  is_batch_good "${__batch_file__}" "${exp_replica_batch}" || {
    report_and_exit "skipped" "The replica batch size (${exp_replica_batch}) is too large for given SW/HW configuration." "${exp_log_file}";
  }
fi
[ -z "${runtime_launcher}" ] && runtime_launcher=":;"
script="\
    export ${mxnet_env};\
    echo -e \"__results.start_time__= \x22\$(date +%Y-%m-%d:%H:%M:%S:%3N)\x22\";\
    ${runtime_launcher} bash ${BENCH_ROOT}/work.sh ${exp_replica_batch} &\
    proc_pid=\$!;\
    [ \"${monitor_frequency}\" != \"0\" ] && echo -e \"\${proc_pid}\" > ${monitor_backend_pid_folder}/proc.pid;\
    wait \${proc_pid};\
    echo -e \"__results.end_time__= \x22\$(date +%Y-%m-%d:%H:%M:%S:%3N)\x22\";\
    echo -e \"__results.proc_pid__= \${proc_pid}\";\
"
if [ "${exp_docker}" = "true" ]; then
    assert_docker_img_exists ${exp_docker_image}
    ${exp_docker_launcher} run ${mxnet_docker_args} /bin/bash -c "eval $script" >> ${exp_log_file} 2>&1
else
    eval $script >> ${exp_log_file} 2>&1
fi
if mxnet_error ${exp_log_file} ${exp_phase}; then
    logwarn "error in \"${exp_log_file}\" with replica batch ${exp_replica_batch}";
    update_error_file "${__batch_file__}" "${exp_replica_batch}";
    echo "__exp.status__=\"failure\"" >> ${exp_log_file}
fi
"""

# The benchmark behind it: out of memory from 100 on.
WORK = r"""echo "batch $1 of kind $KIND"
[ "$1" -lt 100 ] || { echo "CUDA error: out of memory"; exit 1; }
echo "__results.time__= $1.25"
echo "__results.throughput__= 800"
echo "__results.time_data__= [$1.0, $1.5]"
echo "__x__= this is no JSON"
"""


class Bench:
    """A folder with scripts in it, and runs."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="prony-launcher-")
        self.count = self.bad = self.checks = 0
        os.chdir(self.folder)
        for name in ("DLBS_ROOT", "BENCH_ROOT", "DLBS_NAME"):
            os.environ.pop(name, None)

    def script(self, name, text):
        with open(name, "w") as f:
            f.write(text)
        os.chmod(name, 0o755)

    def check(self, good, text):
        self.checks += 1
        if not good:
            self.bad += 1
            print("FAIL: " + text)

    def equal(self, got, want, text):
        self.check(got == want, "%s: %r, expected %r" % (text, got, want))

    def argv(self, params, *more):
        self.count += 1
        argv = [PRONY, "run", "-q", "-o", "run%d" % self.count, *more]
        for name, value in params.items():
            # A list is a variable.
            argv += ["-V" if isinstance(value, list) else "-P",
                     "%s=%s" % (name, json.dumps(value))]
        return argv

    def run(self, params, *more, **env):
        """(exit status, results in plan order)"""
        argv = self.argv(dict({"exp.framework": framework_of(params),
                               "exp.model": "resnet50"}, **params), *more)
        done = subprocess.run(argv, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=100, env=dict(os.environ, **env))
        self.said = done.stdout
        return done.returncode, results("run%d" % self.count)

    def one(self, params, *more, **env):
        status, found = self.run(params, *more, **env)
        if len(found) != 1:
            self.check(False, "%d results: %s" % (len(found), self.said))
            return status, {"status": None, "reason": self.said, "results": {},
                            "attempts": 0, "params": {}, "id": "none"}
        return status, found[0]

    def log(self, result, name="log.txt"):
        with open(os.path.join("run%d" % self.count, "experiments",
                               result["id"], name)) as f:
            return f.read()

    def finish(self):
        os.chdir("/")
        shutil.rmtree(self.folder)
        print("dlbs_launcher: %d checks, %d failed" % (self.checks, self.bad))
        sys.exit(1 if self.bad else 0)


def framework_of(params):
    """That whose launcher is set. "mine" has no file in frameworks/."""
    names = [n.split(".")[0] for n in params if n.endswith(".launcher")
             and n != "runtime.launcher"]
    return names[0] if names else "mxnet"


def results(folder):
    found = []
    for path in sorted(glob.glob(folder + "/experiments/*/result.json")):
        with open(path) as f:
            found.append(json.load(f))
    return found


def parameters(log):
    """As DLBS reads them."""
    found = {}
    for line in log.splitlines():
        m = LINE.match(line)
        try:
            found.update({m.group(1).strip(): json.loads(m.group(2))}
                         if m else {})
        except ValueError:
            pass
    return found


# ---------------------------------------------------------------- scripts


def sweep(b):
    status, found = b.run({
        "mxnet.launcher": "${BENCH_ROOT}/plain.sh",
        "exp.model": ["resnet50", "vgg16"], "exp.replica_batch": [16, 32],
        "exp.log_file": "${BENCH_ROOT}/logs/${exp.framework}/"
                        "${exp.model}_${exp.effective_batch}.log",
        "mxnet.env": "KIND=good", "runtime.env.NUMBER": 5, "my.map": {"a": 1},
        "exp.gpus": ""}, BENCH_ROOT=b.folder)
    b.equal(status, 0, "sweep: " + b.said)
    b.equal([r["results"].get("time") for r in found],
            [16.25, 32.25, 16.25, 32.25], "times")
    b.equal([r["results"].get("time_data") for r in found][0], [16.0, 16.5],
            "series")
    b.equal(sorted(os.listdir("logs/mxnet")),
            ["resnet50_16.log", "resnet50_32.log", "vgg16_16.log",
             "vgg16_32.log"], "log files")
    for r in found:
        b.equal(r["results"].get("exp.framework_title"), "MXNet", "title")
        stray = [n for n in r["results"] if n.startswith(("exp.", "mxnet."))
                 and n != "exp.framework_title"]
        b.equal(stray, [], "parameters among results")
        b.equal(len(r.get("warnings", [])), 1, "one unreadable line")
    head(b, found[0])
    b.check(not os.path.exists("/proc.pid"), "a pid file in /")


def head(b, result):
    """The log begins as DLBS's do and holds the parameters."""
    with open("logs/mxnet/resnet50_16.log") as f:
        text = f.read()
    lines = text.splitlines()
    b.check(re.match(r"Running subprocess \(\['.*/plain.sh', '--.*\]\) with log "
                     r"file '.*/logs/mxnet/resnet50_16.log'$", lines[0]),
            "first line: " + lines[0][:200])
    argv = ast.literal_eval(lines[0][lines[0].index("["):lines[0].rindex("]") + 1])
    told = dict(zip(argv[1::2], argv[2::2]))
    for name, want in {"exp_model": "resnet50", "exp_replica_batch": "16",
                       "exp_docker": "false", "my_map": '{"a": 1}',
                       "exp_phase": "training"}.items():
        b.equal(told.get("--" + name), want, "--" + name)
    b.check("--runtime_env_NUMBER" not in told, "environment as an argument")
    at = [lines.index(t) for t in ("Variables from python script.",
                                   "Starting framework launcher.")]
    b.equal([lines[0:2][1], at[0] < at[1]], ["", True], "order of the head")
    said = parameters("\n".join(lines[at[0]:at[1]]))
    for name, value in result["params"].items():
        b.equal(said.get(name), value, "head: " + name)
    b.check("batch 16 of kind good" in text, "what it ran with")
    b.check(text in b.log(result), "log.txt has the whole of the log file")


def too_large(b):
    """The scripts' own memory of batches that failed."""
    common = {"mxnet.launcher": "./plain.sh", "exp.model": "alexnet",
              "exp.log_file": "oom/${exp.replica_batch}.log",
              "mxnet.env": "KIND=x"}
    status, found = b.run(dict(common, **{
        "exp.replica_batch": [64, 128, 256]}))
    b.equal([r["status"] for r in found], ["ok", "failed", "skipped"],
            "batches")
    b.equal(found[1]["reason"], "the launcher says failure", "reason")
    b.check("(256) is too large" in found[2]["reason"], found[2]["reason"])
    b.equal(status, 6, "some failed")
    status, r = b.one(dict(common, **{"exp.replica_batch": 512,
                                      "exp.ignore_past_errors": True}))
    b.equal(r["status"], "failed", "past errors ignored")


def environment(b):
    b.script("env.sh", LOOP + r"""
echo "__results.env__= \"$NUMBER $TEXT $DLBS_NAME\"" >> $exp_log_file
echo "__results.roots__= [\"$DLBS_ROOT\", \"$BENCH_ROOT\"]" >> $exp_log_file
echo "__results.where__= \"$PWD\"" >> $exp_log_file
echo "__results.launcher__= \"$runtime_launcher\"" >> $exp_log_file
echo "__results.time__= 1" >> $exp_log_file
""")
    os.makedirs("elsewhere", exist_ok=True)
    status, r = b.one({"mxnet.launcher": "./env.sh", "exp.cwd": "elsewhere",
                       "runtime.env.NUMBER": 5, "runtime.env.TEXT": "a b",
                       "runtime.launcher": "X=1 nice -n 1"})
    b.equal(status, 0, b.said)
    b.equal(r["results"].get("env"),
            "5 a b Deep Learning Benchmarking Suite", "environment")
    root, bench = r["results"].get("roots", [None, None])
    b.check(root and os.path.exists(root + "/scripts/utils.sh"), "DLBS_ROOT")
    b.equal(bench, os.path.realpath(b.folder), "BENCH_ROOT")
    b.equal(r["results"].get("where"),
            os.path.realpath(b.folder) + "/elsewhere", "exp.cwd")
    b.equal(r["results"].get("launcher"), "X=1 nice -n 1", "runtime.launcher")
    status, r = b.one({"mxnet.launcher": "./env.sh"}, DLBS_ROOT="/my/dlbs")
    b.equal(r["results"].get("roots", [None])[0], "/my/dlbs", "own DLBS_ROOT")
    sourced = subprocess.run(
        ["bash", "-c", ". '%s/environment.sh' && loginfo \"$DLBS_ROOT\" && "
         "bash -c 'loginfo \"$BENCH_ROOT\"'" % SRC], text=True, check=False,
        stdout=subprocess.PIPE).stdout
    b.check(re.match(r"\d\d-\d\d-\d\d [\d:]+ \[INFO\]    %s\n.*%s\n$" % (
        re.escape(os.path.realpath(SRC)), re.escape(b.folder)), sourced),
        "environment.sh: " + sourced)


def chosen_arguments(b):
    b.script("args.sh", "#!/bin/bash\necho \"__results.args__= \\\"$*\\\"\"\n"
             "echo '__results.time__= 1'\n")
    status, r = b.one({"mine.launcher": "./args.sh", "exp.model": "vgg16",
                       "mine.launcher_args": "exp.model exp.phase",
                       "exp.log_file": "args.log"})
    b.equal(r["results"].get("args"), "--exp_model vgg16 --exp_phase training",
            "launcher_args")
    # It was not told of the file, which is a copy of the log then.
    with open("args.log") as f:
        b.equal(f.read(), b.log(r), "args.log")


def container(b):
    """exp.docker is the script's own business; a command's is ours."""
    os.makedirs("bin", exist_ok=True)
    b.script("bin/docker", "#!/bin/bash\n[ \"$1\" = run ] || exit 0\n"
             "echo \"in a container: $*\" | head -n 1\n"
             "while [ \"$1\" != some/image:1 ]; do shift; done\n"
             "shift\nexec \"$@\"\n")
    path = b.folder + "/bin:" + os.environ["PATH"]
    box = {"exp.docker": True, "exp.gpus": "", "exp.docker_launcher": "docker",
           "exp.docker_image": "some/image:1"}
    status, r = b.one(dict(box, **{
        "mxnet.launcher": "./plain.sh", "mxnet.env": "KIND=boxed",
        "mxnet.docker_args": "${exp.docker_args} some/image:1"}), PATH=path)
    b.equal((status, r["results"].get("time")), (0, 16.25), b.said)
    b.equal(b.log(r).count("in a container:"), 1, "times it ran docker")
    b.script("inside.sh", LOOP + "echo \"__results.time__= 7\" >> $exp_log_file\n"
             "echo \"__results.log__= \\\"$exp_log_file\\\"\"\n")
    status, r = b.one(dict(box, **{
        "mxnet.command": "bash %s/inside.sh" % b.folder,
        "exp.log_file": "boxed.log"}), PATH=path)
    b.equal((status, r["results"].get("time")), (0, 7), b.said)
    b.equal(r["results"].get("log"), os.path.realpath(
        "run%d/experiments/%s/log.txt" % (b.count, r["id"])), "its log file")
    text = b.log(r)
    b.equal(text.count("in a container:"), 1, "times we ran docker")
    with open("boxed.log") as f:
        b.equal(f.read(), text, "boxed.log")


# ---------------------------------------------------------------- trouble


def failures(b):
    for name, body, want, reason in (
            ("exit", "exit 3", "failed", "exit status 3"),
            ("time", "echo '__results.throughput__= 5' >> $exp_log_file",
             "failed", "no results.time in the log"),
            ("zero", "echo '__results.time__= 0' >> $exp_log_file", "failed",
             "no results.time in the log"),
            ("blank", "echo '__results.time__= ' >> $exp_log_file", "failed",
             "no results.time in the log"),
            ("said", "echo '__exp.status__= \"failure\"' >> $exp_log_file; "
             "echo '__exp.status_msg__= \"no disk\"' >> $exp_log_file; exit 1",
             "failed", "no disk"),
            ("signal", "kill -SEGV $$", "failed",
             "killed by signal 11 (SIGSEGV)")):
        b.script("bad.sh", LOOP + body + "\n")
        status, r = b.one({"mine.launcher": "./bad.sh",
                           "exp.log_file": "bad/%s.log" % name})
        b.equal((r["status"], r["reason"]), (want, reason), name)
        b.equal(status, 1, name)
    b.script("bad.sh", "#!/no/such/interpreter\n")
    status, r = b.one({"mine.launcher": "./bad.sh"})
    b.equal(r["status"], "failed", "no interpreter")
    b.check("cannot start" in r["reason"], r["reason"])
    status, found = b.run({"mine.launcher": "./none.sh"})
    b.check(status in (3, 4) and not found and "'./none.sh'" in b.said,
            "missing launcher: %d %s" % (status, b.said))
    status, found = b.run({})
    b.check(status in (3, 4) and "needs a launcher" in b.said, b.said)


def deaf(b):
    """One that does not listen to SIGTERM, nor does its child."""
    b.script("deaf.sh", LOOP + r"""
trap '' TERM
echo "__results.started__= 1" >> $exp_log_file
sleep 1000 &
while :; do sleep 1; done
""")
    start = time.monotonic()
    status, r = b.one({"mine.launcher": "./deaf.sh", "exp.timeout": 0.5,
                       "exp.grace": 0.2, "exp.log_file": "deaf.log"})
    b.equal((status, r["status"]), (124, "timeout"), "deaf")
    b.check(time.monotonic() - start < 20, "it took too long to end")
    b.equal(r["results"].get("started"), 1, "what it had said before")
    left = subprocess.run(["pgrep", "-f", b.folder + "/deaf.sh"], check=False,
                          stdout=subprocess.PIPE, text=True).stdout
    b.equal(left, "", "processes left")


def retried(b):
    b.script("second.sh", LOOP + r"""
echo "__results.tries__= $(($(cat tries 2>/dev/null || echo 0) + 1))" >> $exp_log_file
if [ -f tries ]; then
    echo "__results.time__= 2" >> $exp_log_file
else
    echo "__results.only_first__= 1" >> $exp_log_file
    echo 1 > tries
    exit 1
fi
""")
    status, r = b.one({"mine.launcher": "./second.sh", "exp.retry": 2,
                       "exp.log_file": "second.log"})
    b.equal((status, r["attempts"], r["results"].get("tries")), (0, 2, 2),
            "retry")
    b.check("only_first" not in r["results"], "a result of the attempt before")
    b.check("only_first" in b.log(r, "log.txt.1"), "its log was lost")
    with open("second.log") as f:
        b.check("only_first" not in f.read(), "it is still in the log file")


def reruns(b):
    b.script("rerun.sh", LOOP + r"""
echo run >> runs
[ -f broken ] && exit 0
echo "__results.time__= 3" >> $exp_log_file
""")
    params = {"mine.launcher": "./rerun.sh", "exp.log_file": "r/rerun.log"}

    def once(rerun):
        status, r = b.one(dict(params, **{"exp.rerun": rerun}))
        with open("runs") as f:
            return r["status"], len(f.read().split())

    b.equal(once("never"), ("ok", 1), "first")
    b.equal(once("never"), ("skipped", 1), "never")
    b.equal(once("onfail"), ("skipped", 1), "onfail, good")
    b.equal(once("always"), ("ok", 2), "always")
    open("broken", "w").close()
    # DLBS would append, and count the old results.
    b.equal(once("always"), ("failed", 3), "always, failing")
    b.equal(once("never"), ("skipped", 3), "never, failed")
    os.unlink("broken")
    b.equal(once("onfail"), ("ok", 4), "onfail, failed")


def states(b):
    status, found = b.run({"mine.launcher": "./rerun.sh", "exp.status":
                           ["disabled", "inactive", "simulate", ""],
                           "exp.log_file": "s/${exp.status}.log"})
    b.equal([r["status"] for r in found], ["skipped"] * 3 + ["ok"], "states")
    text = b.log(found[2])
    b.check("rerun.sh\" \"--exp_status\" \"simulate\"" in text
            and "DLBS_ROOT=" in text, "simulate: " + text[:200])
    b.equal(os.listdir("s"), [".log"], "log files of what was not run")


def resumed(b):
    """Killed in the middle, twice; every experiment counts once."""
    b.script("slow.sh", LOOP + r"""
echo "$exp_replica_batch" >> done.txt
[ "$exp_replica_batch" = 2 ] && [ ! -f go ] && sleep 100
echo "__results.time__= $exp_replica_batch" >> $exp_log_file
""")
    # A framework of the user's own has no file, and any model.
    argv = b.argv({"exp.framework": "mine", "mine.launcher": "./slow.sh",
                   "exp.model": "m1", "exp.replica_batch": [1, 2, 3],
                   "exp.log_file": "slow/${exp.replica_batch}.log"})
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    for _ in range(2000):
        if os.path.exists("slow/2.log") and "\n2\n" in "\n" + open(
                "done.txt").read():
            break
        time.sleep(0.01)
    p.send_signal(signal.SIGKILL)
    p.wait()
    open("go", "w").close()
    folder = argv[argv.index("-o") + 1]
    again = subprocess.run([PRONY, "run", "-q", "--resume", folder],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, check=False, timeout=100)
    b.equal(again.returncode, 0, again.stdout)
    found = results(folder)
    b.equal([(r["status"], r["results"].get("time")) for r in found],
            [("ok", 1), ("ok", 2), ("ok", 3)], "resumed")
    with open("done.txt") as f:
        b.equal(f.read().split(), ["1", "2", "2", "3"], "what was run")


def main():
    if not shutil.which("bash"):
        print("1..0 # SKIP no bash; install it")
        sys.exit(77)
    b = Bench()
    b.script("plain.sh", PLAIN)
    b.script("work.sh", WORK)
    for part in (sweep, too_large, environment, chosen_arguments, container,
                 failures, deaf, retried, reruns, states, resumed):
        part(b)
    b.finish()


if __name__ == "__main__":
    main()
