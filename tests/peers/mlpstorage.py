#!/usr/bin/python3
"""MLPerf's own tool drives our program under the name dlio_benchmark, and
`prony plan` gives the sizes that it gives.

Usage: mlpstorage.py [--prony PROGRAM]

mlpstorage is $PRONY_MLPSTORAGE, the one on PATH, or that of a checkout of its
repository in $PRONY_MLPSTORAGE_SRC; without any of them, and without mpirun
for the runs, the test is skipped. One line of TAP for each matter.
"""
import argparse
import csv
import glob
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
GIB = 1 << 30

# model, accelerator, GiB of a host, accelerators, hosts
SIZES = [
    ("unet3d", "a100", 128, 16, 2), ("unet3d", "h100", 256, 80, 2),
    ("unet3d", "h100", 1024, 1, 3), ("resnet50", "h100", 64, 16, 1),
    ("resnet50", "a100", 256, 80, 2), ("resnet50", "a100", 17, 3, 5),
    ("cosmoflow", "h100", 64, 16, 1), ("cosmoflow", "a100", 256, 80, 2),
    ("cosmoflow", "h100", 1, 1000, 1),
]

# A model so small that its checkpoints fit anywhere; 32 layers are one for
# each stage of the largest but one.
TINY = ["model.num_layers=32", "model.transformer.vocab_size=1024",
        "model.transformer.hidden_size=128",
        "model.transformer.ffn_hidden_size=256",
        "model.transformer.num_attention_heads=8",
        "checkpoint.time_between_checkpoints=0"]


def skip(why):
    print("1..0 # SKIP %s" % why)
    print("SKIP: %s" % why)
    sys.exit(77)


def find_tool():
    """(arguments that start it, what to add to PYTHONPATH)"""
    src = os.environ.get("PRONY_MLPSTORAGE_SRC")
    program = (os.environ.get("PRONY_MLPSTORAGE")
               or shutil.which("mlpstorage"))
    if program:
        return [program], ""
    if not src:
        skip("there is no mlpstorage; set PRONY_MLPSTORAGE to the program, or "
             "PRONY_MLPSTORAGE_SRC to a checkout of its repository")
    missing = [m for m in ("yaml", "psutil", "pyarrow")
               if not importlib.util.find_spec(m)]
    if missing:
        skip("%s lacks %s; mlpstorage needs it"
             % (sys.executable, ", ".join(missing)))
    return [sys.executable, "-m", "mlpstorage.main"], src


class Peer:
    """Runs both programs in a folder of our own, and counts."""

    def __init__(self, prony, tool, path):
        self.dir = tempfile.mkdtemp(prefix="prony-mlpstorage-")
        self.prony = prony
        self.tool = tool
        self.count = self.failed = 0
        bin_dir = os.path.join(self.dir, "bin")
        os.mkdir(bin_dir)
        os.symlink(prony, os.path.join(bin_dir, "dlio_benchmark"))
        self.env = dict(os.environ, HOME=self.dir, PRONY_SHARE=SRC)
        if path:
            self.env["PYTHONPATH"] = path
        self.results = os.path.join(self.dir, "results")
        self.run_args = ["--results-dir", self.results, "--dlio-bin-path",
                         bin_dir, "--allow-run-as-root", "--oversubscribe",
                         "--hosts", "127.0.0.1"]

    def call(self, *args):
        """Status and all output of mlpstorage, colours taken off."""
        got = subprocess.run(self.tool + list(args), cwd=self.dir,
                             env=self.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             timeout=300, check=False)
        text = got.stdout.decode("utf-8", "replace")
        return got.returncode, re.sub("\033\\[[0-9;]*m", "", text)

    def start(self, *args):
        time.sleep(1.1)  # it names the folder of a run after the second
        return self.call(*args, *self.run_args)

    def check(self, name, problems, text=""):
        self.count += 1
        print("%s %d - %s" % ("not ok" if problems else "ok", self.count, name))
        if problems:
            self.failed += 1
            for p in problems:
                print("#   %s" % p)
            for line in text.splitlines()[-40:]:
                print("#     %s" % line)
        sys.stdout.flush()

    def leaf(self, *parts):
        """The newest folder of results below."""
        found = sorted(glob.glob(os.path.join(self.results, *parts, "2*")))
        return found[-1] if found else ""


def plan(peer, *args):
    got = subprocess.run([peer.prony, "plan", *args, "--format", "json"],
                         env=peer.env, stdin=subprocess.DEVNULL,
                         capture_output=True, check=True)
    return json.loads(got.stdout)["mlperf"][0]


def check_sizes(peer):
    for model, accelerator, memory, accelerators, hosts in SIZES:
        status, text = peer.call(
            "training", "datasize", "--model", model, "--accelerator-type",
            accelerator, "--client-host-memory-in-gb", str(memory),
            "--max-accelerators", str(accelerators), "--num-client-hosts",
            str(hosts), "--results-dir", peer.results)
        size = plan(peer, "%s_%s" % (model, accelerator),
                    "exp.accelerators=%d" % accelerators,
                    "mlperf.hosts=%d" % hosts,
                    "mlperf.host_memory=%dGiB" % memory)["data_size"]
        by_memory = size["files_by_memory"] > size["files_by_steps"]
        want = [
            ("Number of training files: %d\n" % size["num_files_train"]),
            ("required for training: %.2f GB\n" % (size["bytes"] / GIB)),
            ("dictated by dataset size" if by_memory
             else "dictated by 500 step"),
        ]
        folders = re.search(r"num_subfolders_train=(\d+)", text)
        problems = ["it does not say '%s'" % w.strip()
                    for w in want if w not in text]
        if status:
            problems.append("status %d" % status)
        # One folder would spread nothing, so ours are two then.
        if size["num_subfolders_train"] != (
                max(2, int(folders.group(1))) if folders else 0):
            problems.append("folders: %d" % size["num_subfolders_train"])
        peer.check("size of %s %s, %d x %d GiB, %d accelerators"
                   % (model, accelerator, hosts, memory, accelerators),
                   problems, text)


def tree_problems(leaf, accelerators, metrics):
    """What is missing of the files that reportgen and reviewers read."""
    want = ["summary.json", "dlio.log", "dlio_config/config.yaml",
            "dlio_config/hydra.yaml", "dlio_config/overrides.yaml",
            "*_metadata.json", "*.stdout.log", "*.stderr.log"]
    want += ["%d_output.json" % r for r in range(accelerators)]
    want += ["%d_per_epoch_stats.json" % r for r in range(accelerators)]
    problems = ["there is no %s" % w for w in want
                if not glob.glob(os.path.join(leaf, w))]
    if problems:
        return problems
    with open(os.path.join(leaf, "summary.json"), encoding="utf-8") as f:
        summary = json.load(f, parse_constant=lambda c: problems.append(
            "summary.json holds %s" % c))
    for key in ("start", "end", "num_accelerators", "num_hosts",
                "host_memory_GB", "host_cpu_count", "metric"):
        if key not in summary:
            problems.append("summary.json has no %s" % key)
    if summary.get("num_accelerators") != accelerators:
        problems.append("num_accelerators: %s"
                        % summary.get("num_accelerators"))
    problems += ["summary.json has no metric %s" % m for m in metrics
                 if m not in summary.get("metric", {})]
    return problems


TRAINED = ["train_au_percentage", "train_au_mean_percentage",
           "train_au_meet_expectation",
           "train_throughput_mean_samples_per_second",
           "train_io_mean_MB_per_second"]
SAVED = ["save_checkpoint_io_mean_GB_per_second",
         "save_checkpoint_duration_mean_seconds", "checkpoint_size_GB"]
LOADED = ["load_checkpoint_io_mean_GB_per_second",
          "load_checkpoint_duration_mean_seconds"]


def check_training(peer, model, files, per_file, accelerators, more):
    data = os.path.join(peer.dir, "data")
    files_arg = ["dataset.num_files_train=%d" % files] + more
    status, text = peer.start(
        "training", "datagen", "--model", model, "--num-processes",
        str(accelerators), "--data-dir", data, "--param", *files_arg)
    made = os.listdir(os.path.join(data, model, "train"))
    made = [m for m in made if not m.startswith(".")]
    problems = [] if len(made) == files else ["%d files" % len(made)]
    if status or "non-zero" in text:
        problems.append("status %d" % status)
    # What its validation looks for in a folder of datagen.
    leaf = peer.leaf("training", model, "datagen")
    problems += ["there is no %s" % n for n in (
        "dlio.log", "dlio_config/config.yaml", "dlio_config/hydra.yaml",
        "dlio_config/overrides.yaml", "*_metadata.json",
        "training_datagen.stdout.log", "training_datagen.stderr.log")
        if not glob.glob(os.path.join(leaf, n))]
    peer.check("%s: datagen" % model, problems, text)

    args = ["training", "run", "--model", model, "--num-accelerators",
            str(accelerators), "--accelerator-type", "h100",
            "--client-host-memory-in-gb", "1", "--num-client-hosts", "1",
            "--data-dir", data, "--allow-invalid-params", "--param", *files_arg]
    if model == "unet3d":  # which it needs, and does not hand on
        args[2:2] = ["--checkpoint-folder", os.path.join(peer.dir, "ck")]
    status, text = peer.start(*args)
    leaf = peer.leaf("training", model, "run")
    problems = tree_problems(leaf, accelerators, TRAINED)
    if status or "non-zero" in text:
        problems.append("status %d" % status)
    if "[METRIC] Training Throughput (samples/second)" not in text:
        problems.append("no figures on the console")
    peer.check("%s: run" % model, problems, text)
    if not problems:
        with open(os.path.join(leaf, "0_output.json"), encoding="utf-8") as f:
            steps = len(json.load(f)["1"]["load"]["block1"])
        batch = {"unet3d": 7, "resnet50": 400, "cosmoflow": 1}[model]
        want = files * per_file // accelerators // batch
        peer.check("%s: %d steps" % (model, want),
                   [] if steps == want else ["%d steps" % steps])


def check_checkpoints(peer, model, ranks, files):
    folder = os.path.join(peer.dir, "ck")
    args = ["checkpointing", "run", "--model", model, "--num-processes",
            str(ranks), "--client-host-memory-in-gb", "4",
            "--checkpoint-folder", folder]
    for kind, write, read in (("write", 2, 0), ("read", 0, 2)):
        status, text = peer.start(
            *args, "--num-checkpoints-write", str(write),
            "--num-checkpoints-read", str(read), "--params", *TINY)
        problems = tree_problems(peer.leaf("checkpointing", model), ranks,
                                 SAVED if write else LOADED)
        made = glob.glob(os.path.join(folder, model, "global_epoch1_step*",
                                      "*.pt"))
        if len(made) != 2 * files:
            problems.append("%d files of 2 x %d" % (len(made), files))
        if status or "non-zero" in text:
            problems.append("status %d" % status)
        peer.check("%s: %s" % (model, kind), problems, text)


def check_refusals(peer):
    for want, args in ((2, ["training", "datasize", "--invalid-flag"]),
                       (2, ["training", "run", "--model", "vgg"])):
        status, text = peer.call(*args)
        peer.check("status %d of %s" % (want, " ".join(args)),
                   [] if status == want else ["status %d" % status], text)
    # What our program refuses is seen, though it ends with 0.
    status, text = peer.start(
        "training", "run", "--model", "cosmoflow", "--num-accelerators", "2",
        "--accelerator-type", "h100", "--client-host-memory-in-gb", "1",
        "--num-client-hosts", "1", "--data-dir",
        os.path.join(peer.dir, "none"), "--param", "dataset.num_files_train=4")
    leaf = peer.leaf("training", "cosmoflow", "run")
    problems = [] if "non-zero" in text else ["mpirun saw no failure"]
    if os.path.exists(os.path.join(leaf, "summary.json")):
        problems.append("there is a summary.json")
    peer.check("a run without data", problems, text)


def check_reports(peer, runs):
    status, text = peer.call("reports", "reportgen", "--results-dir",
                             peer.results)
    problems = ["status %d" % status] if status else []
    found, rows = [], []
    try:
        with open(os.path.join(peer.results, "results.json"),
                  encoding="utf-8") as f:
            found = json.load(f)
        with open(os.path.join(peer.results, "results.csv"),
                  encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
    except (OSError, ValueError) as e:
        problems.append(str(e))
    got = sorted((r["benchmark_type"], r["model"]) for r in found)
    if got != sorted(runs):
        problems.append("runs: %s" % got)
    if len(rows) != len(runs):
        problems.append("%d rows of results.csv" % len(rows))
    if any(not r["metrics"] or not r["system_info"]["total_memory_bytes"]
           for r in found):
        problems.append("a run without figures or memory")
    peer.check("reports", problems, text)
    status, text = peer.call("reports", "reportgen", "--results-dir",
                             os.path.join(peer.dir, "nothing"))
    peer.check("reports of nothing", [] if status == 3 else
               ["status %d" % status], text)
    status, text = peer.call("history", "show")
    peer.check("history", [] if status == 0 and "reportgen" in text else
               ["status %d" % status], text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prony", default=os.environ.get("PRONY"))
    args = parser.parse_args()
    tool, path = find_tool()
    peer = Peer(os.path.abspath(args.prony or os.path.join(SRC, "build",
                                                           "prony")),
                tool, path)
    try:
        status, text = peer.call("--version")
        if status:
            skip("mlpstorage does not start; %s" % text.strip()[-200:])
        check_sizes(peer)
        if not shutil.which("mpirun"):
            print("# SKIP: nothing is run without mpirun; install openmpi-bin")
        else:
            check_training(peer, "cosmoflow", 32, 1, 2, [])
            check_training(peer, "resnet50", 4, 1251, 2, [])
            check_training(peer, "unet3d", 42, 1, 2, [
                "dataset.record_length_bytes=1000000",
                "dataset.record_length_bytes_stdev=0",
                "dataset.record_length_bytes_resize=0"])
            check_checkpoints(peer, "llama3-8b", 8, 16)
            check_checkpoints(peer, "llama3-70b", 8, 16)
            check_checkpoints(peer, "llama3-405b", 8, 24)
            check_refusals(peer)
            check_reports(peer, [
                ("training", "cosmoflow"), ("training", "resnet50"),
                ("training", "unet3d"), ("checkpointing", "llama_8b"),
                ("checkpointing", "llama_8b"), ("checkpointing", "llama_70b"),
                ("checkpointing", "llama_70b"),
                ("checkpointing", "llama_405b"),
                ("checkpointing", "llama_405b")])
        print("1..%d" % peer.count)
    finally:
        shutil.rmtree(peer.dir)
    return 1 if peer.failed else 0


sys.exit(main())
