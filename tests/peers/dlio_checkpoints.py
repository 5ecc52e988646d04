#!/usr/bin/python3
"""DLIO's checkpoints, side by side: its own tests of them replayed, and the
folders, files, tensors and keys that the real program leaves behind.

Usage: dlio_checkpoints.py [WORD…]     (only rows whose name holds one of them)

What DLIO wrote is stored below as facts (DLIO 2.0, torch 2.13, MPI). Where
$PRONY_DLIO names the real dlio_benchmark, it is run again, which takes some
minutes; the python beside it reads our files by torch.load. Where DLIO is
wrong and we are not:

  Q3   fsync is ignored by DLIO; here every file is synced
  Q4   recovery_rank_shift is ignored by DLIO; here ranks read each other's
  Q11  time_between_checkpoints=-1 sleeps 1 s in DLIO; here it does not
  Q18  checkpoint_size_GB leaves sizes given as lists out, and counts the model
       twice at ZeRO 2 with two ranks; here it is what is on disk
  Q19  durations are rank 0's in DLIO's summary; here those of the slowest rank
  -    after a checkpoint at the last step DLIO begins a block without steps
"""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import time

from _emulate import PRONY, SRC, Tap, read_json, run

TWO = "exp.accelerators=2"
QUICK = ("train.computation_time=0.001", "evaluation.eval_time=0.001",
         "emulate.drop_cache=never")
MPIRUN = shutil.which("mpirun")
REAL = os.environ.get("PRONY_DLIO", "")

# ------------------------------------------------------------------ the facts

TINY = {"model.type": "transformer", "model.num_layers": 3,
        "model.transformer.vocab_size": 1000,
        "model.transformer.hidden_size": 64,
        "model.transformer.ffn_hidden_size": 100,
        "model.transformer.num_attention_heads": 8,
        "model.transformer.num_kv_heads": 2}
LISTS = {"model.num_layers": 2, "model.layer_parameters": "[16,100]",
         "model.optimization_groups": "[1024,128]"}
ONLY = {"workflow.generate_data": "False", "workflow.train": "False",
        "workflow.checkpoint": "True", "checkpoint.num_checkpoints_write": 1,
        "checkpoint.num_checkpoints_read": 1, "framework": "pytorch",
        "checkpoint.time_between_checkpoints": 0}


def ranks(**sizes):
    return {"model.parallelism." + k: v for k, v in sizes.items()}


# Name: processes, overrides.
CASES = {
    "zero0": (2, {**TINY, **ranks(zero_stage=0)}),
    "zero1": (2, {**TINY, **ranks(zero_stage=1)}),
    "zero2": (2, {**TINY, **ranks(zero_stage=2)}),
    "zero3": (2, {**TINY, **ranks(zero_stage=3)}),
    "pipeline_zero1": (2, {**TINY, **ranks(zero_stage=1, pipeline=2)}),
    "tensor_zero0": (2, {**TINY, **ranks(zero_stage=0, tensor=2)}),
    "tensor_zero3": (4, {**TINY, **ranks(zero_stage=3, tensor=2)}),
    "both_zero1": (4, {**TINY, **ranks(zero_stage=1, tensor=2, pipeline=2)}),
    # DLIO cannot read what it wrote here.
    "both_zero0": (4, {**TINY, **ranks(zero_stage=0, tensor=2, pipeline=2),
                       "checkpoint.num_checkpoints_read": 0}),
    "types": (2, {**TINY, **ranks(zero_stage=1),
                  "model.model_datatype": "bf16",
                  "model.optimizer_datatype": "fp16"}),
    "int8": (2, {**TINY, **ranks(zero_stage=1),
                 "model.model_datatype": "int8",
                 "model.optimizer_datatype": "fp64"}),
    "subset": (2, {**TINY, **ranks(zero_stage=3, data=16),
                   "checkpoint.mode": "subset"}),
    "lists_zero0": (2, {**LISTS, **ranks(zero_stage=0, tensor=2)}),
    "lists_zero1": (2, {**LISTS, **ranks(zero_stage=1)}),
    "lists_zero3": (2, {**LISTS, **ranks(zero_stage=3)}),
    "lists_pipeline": (2, {**LISTS, **ranks(zero_stage=1, pipeline=2)}),
    "blob": (2, {"model.model_size_bytes": 5000}),
}

# Name: bytes as DLIO counts them, and what is in the files: the type, sizes of
# the tensors that are stored in them, and which files these are.
FACTS = {
    "zero0": (3038592, [
        ("F16", [128000] + 3 * [128, 12288, 8192, 128, 25600, 12800] + [128000,
         128],
         "zero_pp_rank_0_mp_rank_0_model_states"),
        ("F32", 3 * [867072, 1280],
         "zero_pp_rank_0_mp_rank_0_optim_states"),
    ]),
    "zero1": (3042432, [
        ("F16", [128000] + 3 * [128, 12288, 8192, 128, 25600, 12800] + [128000,
         128],
         "model_0_model_states"),
        ("F32", 3 * [433536, 1280],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_1_mp_rank_0_optim_states"),
    ]),
    "zero2": (3475968, [
        ("F16", [128000] + 3 * [128, 12288, 8192, 128, 25600, 12800] + [128000,
         128],
         "model_0_model_states"),
        ("F32", 3 * [433536, 1280],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_1_mp_rank_0_optim_states"),
    ]),
    "zero3": (3042432, [
        ("F16", [64000] + 3 * [64, 6144, 4096, 64, 12800, 6400] + [64000, 64],
         "zero_pp_rank_0_mp_rank_0_model_states "
         "zero_pp_rank_1_mp_rank_0_model_states"),
        ("F32", 3 * [433536, 1280],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_1_mp_rank_0_optim_states"),
    ]),
    "pipeline_zero1": (3042432, [
        ("F16", [128000],
         "layer_0-model_0_model_states layer_4-model_1_model_states"),
        ("F16", [128, 12288, 8192, 128, 25600, 12800],
         "layer_1-model_0_model_states layer_2-model_0_model_states "
         "layer_3-model_1_model_states"),
        ("F16", [128],
         "layer_5-model_1_model_states"),
        ("F32", 3 * [433536, 1280],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_0_mp_rank_1_optim_states"),
    ]),
    "tensor_zero0": (3043328, [
        ("F16", [64000] + 3 * [128, 6144, 4096, 128, 12800, 6400] + [64000,
         128],
         "zero_pp_rank_0_mp_rank_0_model_states "
         "zero_pp_rank_0_mp_rank_1_model_states"),
        ("F32", 3 * [433536, 1280],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_0_mp_rank_1_optim_states"),
    ]),
    "tensor_zero3": (3051008, [
        ("F16", [32000] + 3 * [64, 3072, 2048, 64, 6400, 3200] + [32000, 64],
         "zero_pp_rank_0_mp_rank_0_model_states "
         "zero_pp_rank_0_mp_rank_1_model_states "
         "zero_pp_rank_1_mp_rank_0_model_states "
         "zero_pp_rank_1_mp_rank_1_model_states"),
        ("F32", 3 * [216768, 1280],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_0_mp_rank_1_optim_states "
         "zero_pp_rank_1_mp_rank_0_optim_states "
         "zero_pp_rank_1_mp_rank_1_optim_states"),
    ]),
    "both_zero1": (3051008, [
        ("F16", [64000],
         "layer_0-model_0_model_states layer_0-model_1_model_states "
         "layer_4-model_2_model_states layer_4-model_3_model_states"),
        ("F16", [128, 6144, 4096, 128, 12800, 6400],
         "layer_1-model_0_model_states layer_1-model_1_model_states "
         "layer_2-model_0_model_states layer_2-model_1_model_states "
         "layer_3-model_2_model_states layer_3-model_3_model_states"),
        ("F16", [128],
         "layer_5-model_2_model_states layer_5-model_3_model_states"),
        ("F32", 3 * [216768, 1280],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_0_mp_rank_1_optim_states "
         "zero_pp_rank_0_mp_rank_2_optim_states "
         "zero_pp_rank_0_mp_rank_3_optim_states"),
    ]),
    "both_zero0": (3051008, [
        ("F16", [64000] + 2 * [128, 6144, 4096, 128, 12800, 6400],
         "zero_pp_rank_0_mp_rank_0_model_states "
         "zero_pp_rank_0_mp_rank_1_model_states"),
        ("F32", 3 * [216768, 1280],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_0_mp_rank_1_optim_states "
         "zero_pp_rank_0_mp_rank_2_optim_states "
         "zero_pp_rank_0_mp_rank_3_optim_states"),
        ("F16", [128, 6144, 4096, 128, 12800, 6400, 64000, 128],
         "zero_pp_rank_0_mp_rank_2_model_states "
         "zero_pp_rank_0_mp_rank_3_model_states"),
    ]),
    "types": (1737984, [
        ("BF16", [128000] + 3 * [128, 12288, 8192, 128, 25600, 12800] +
         [128000, 128],
         "model_0_model_states"),
        ("F16", 3 * [216768, 640],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_1_mp_rank_0_optim_states"),
    ]),
    "subset": (387024, [
        ("F16", [8000] + 3 * [8, 768, 512, 8, 1600, 800] + [8000, 8],
         "zero_pp_rank_0_mp_rank_0_model_states "
         "zero_pp_rank_1_mp_rank_0_model_states"),
        ("F32", 3 * [54192, 1280],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_1_mp_rank_0_optim_states"),
    ]),
    "lists_zero0": (10240, [
        ("I8", [10240],
         "model_states-0 model_states-1"),
        ("I8", [8, 50],
         "zero_pp_rank_0_mp_rank_0_model_states "
         "zero_pp_rank_0_mp_rank_1_model_states"),
        ("I8", [1024, 1024, 128, 128, 1152],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_0_mp_rank_1_optim_states"),
    ]),
    "lists_zero1": (10240, [
        ("I8", [16, 100],
         "model_0_model_states"),
        ("I8", [10240],
         "model_states-0 model_states-1"),
        ("I8", [1024, 1024, 128, 128, 1152],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_1_mp_rank_0_optim_states"),
    ]),
    "lists_zero3": (10240, [
        ("I8", [10240],
         "model_states-0 model_states-1"),
        ("I8", [16, 100],
         "zero_pp_rank_0_mp_rank_0_model_states "
         "zero_pp_rank_1_mp_rank_0_model_states"),
        ("I8", [1024, 1024, 128, 128, 1152],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_1_mp_rank_0_optim_states"),
    ]),
    "lists_pipeline": (10240, [
        ("I8", [16, 100],
         "layer_1-model_0_model_states layer_2-model_1_model_states"),
        ("I8", [10240],
         "model_states-0 model_states-1"),
        ("I8", [1024, 1024, 128, 128, 1152],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_0_mp_rank_1_optim_states"),
    ]),
    "blob": (5000, [
        ("I8", [5000],
         "model_states-0"),
    ]),
    "int8": (5434560, [
        ("I8", [64000] + 3 * [64, 6144, 4096, 64, 12800, 6400] + [64000, 64],
         "model_0_model_states"),
        ("F64", 3 * [867072, 2560],
         "zero_pp_rank_0_mp_rank_0_optim_states "
         "zero_pp_rank_1_mp_rank_0_optim_states"),
    ]),
}

METRIC = ["%s_checkpoint_%s" % (verb, what) for verb in ("save", "load")
          for what in ("io_mean_GB_per_second", "io_stdev_GB_per_second",
                       "duration_mean_seconds", "duration_stdev_seconds")]
METRIC.append("checkpoint_size_GB")


def phase(name):
    return ["%s_%s" % (name, what) for what in (
        "au_percentage", "au_mean_percentage", "au_meet_expectation",
        "au_stdev_percentage", "throughput_samples_per_second",
        "throughput_mean_samples_per_second",
        "throughput_stdev_samples_per_second", "io_mean_MB_per_second",
        "io_stdev_MB_per_second")]


TRAINING = {
    "workflow.generate_data": "True", "workflow.train": "True",
    "workflow.checkpoint": "True", "workflow.evaluation": "False",
    "train.computation_time": 0.001, "framework": "pytorch",
    "dataset.num_files_train": 16, "dataset.num_files_eval": 0,
    "train.epochs": 2, "dataset.record_length_bytes": 4096,
    "reader.data_loader": "pytorch", "reader.read_threads": 0,
    "model.num_layers": 2, "model.layer_parameters": "[16]",
    "model.optimization_groups": "[128]"}
TIMES = ["start", "end", "duration"]
STAMPS = TIMES + ["throughput"]
ENDED = {"end": "str", "duration": "str"}
SAVED = {"start": "str", "block1": TIMES, "save_ckpt1": STAMPS}
# DLIO has a block3 without steps, too.
SAVED_TWICE = {**SAVED, "block2": TIMES, "save_ckpt2": STAMPS, **ENDED}
# The workload "default" asks for evaluation, also where nothing is trained.
METRIC_ONLY = METRIC + phase("eval")
METRIC_WRITE = METRIC[:4] + METRIC[-1:] + phase("eval")
# Name: overrides, keys of metric, keys of per_epoch_stats, folders.
TRAININGS = {
    "by epoch": ({}, METRIC[:4] + METRIC[-1:] + phase("train"),
                 {e: {**SAVED, **ENDED} for e in "12"},
                 ["global_epoch1_step3", "global_epoch2_step3"]),
    "by step": ({"checkpoint.steps_between_checkpoints": 1},
                METRIC[:4] + METRIC[-1:] + phase("train"),
                {e: SAVED_TWICE for e in "12"},
                ["global_epoch%d_step%d" % (e, s) for e in (1, 2)
                 for s in (1, 2)]),
    "with evaluation": ({"workflow.evaluation": "True",
                         "dataset.num_files_eval": 8,
                         "evaluation.eval_time": 0.001},
                        METRIC[:4] + METRIC[-1:] + phase("train")
                        + phase("eval"),
                        {e: {**SAVED, **ENDED, "eval": TIMES} for e in "12"},
                        ["global_epoch1_step3", "global_epoch2_step3"]),
}

# -------------------------------------------------------------------- running


def dlio(folder, count, values, name="run", program=""):
    """A run by DLIO's command line, ours or the real one, by MPI if there is
    any; the names of values are those in a workload."""
    if not program:
        program = os.path.join(folder, "dlio_benchmark")
        if not os.path.lexists(program):
            os.symlink(PRONY, program)
    command = [program, "workload=default", "++hydra.run.dir=" + name]
    if MPIRUN:
        command = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-np",
                   str(count)] + command
    else:
        command.append("++exp.accelerators=%d" % count)
    command += ["++workload.%s=%s" % row for row in values.items()]
    # Several of Open MPI's at once take each other's folder away.
    os.makedirs(os.path.join(folder, "tmp"), exist_ok=True)
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=300, check=False,
        env=dict(os.environ, PRONY_SHARE=SRC,
                 TMPDIR=os.path.join(folder, "tmp")))
    return done.returncode, done.stdout.decode(errors="replace")


def names_in(folder):
    """Every file below a folder."""
    return sorted(os.path.relpath(os.path.join(at, n), folder)
                  for at, _, names in os.walk(folder) for n in names)


# ------------------------------------------------------------ DLIO's own tests


def by_epoch(g, folder, framework, groups, layers, zero, randomize):
    values = {
        "workflow.generate_data": "True", "workflow.checkpoint": "True",
        "framework": framework, "reader.data_loader": framework,
        "train.computation_time": 0.001, "evaluation.eval_time": 0.001,
        "train.epochs": 8, "checkpoint.epochs_between_checkpoints": 2,
        "model.model_size_bytes": 1024, "model.optimization_groups": groups,
        "model.num_layers": layers, "model.layer_parameters": "[16]",
        "model.parallelism.zero_stage": zero, "model.parallelism.tensor": 2,
        "checkpoint.randomize_tensor": randomize}
    code, said = dlio(folder, 2, values)
    if not g.check(code == 0, "status %d: %s" % (code, said[-600:])):
        return
    found = glob.glob(os.path.join(folder, "checkpoints", "*", "*"))
    want = 4 * (6 * 2 + 1) if framework == "tensorflow" else 4 * 6
    g.equal(len(found), want, "files")
    at = sorted({os.path.basename(os.path.dirname(p)) for p in found})
    g.equal(at, ["global_epoch%d_step9" % e for e in (1, 3, 5, 7)], "folders")
    stats = read_json(os.path.join(folder, "run", "0_per_epoch_stats.json"))
    for epoch, v in stats.items():
        g.equal("save_ckpt1" in v, int(epoch) % 2 == 1, "epoch " + epoch)
    m = read_json(os.path.join(folder, "run", "summary.json"))["metric"]
    g.check(m["save_checkpoint_duration_mean_seconds"] > 0, "duration")


def by_step(g, folder):
    code, said = dlio(folder, 2, {
        "workflow.generate_data": "True", "workflow.checkpoint": "True",
        "train.computation_time": 0.001, "evaluation.eval_time": 0.001,
        "train.epochs": 8, "checkpoint.steps_between_checkpoints": 2})
    if not g.check(code == 0, "status %d: %s" % (code, said[-600:])):
        return
    found = glob.glob(os.path.join(folder, "checkpoints", "*", "*.pt"))
    if not found:  # the default framework is tensorflow
        found = glob.glob(os.path.join(folder, "checkpoints", "*", "*.index"))
    g.equal(len(found), 64 // 4 // 2 // 2 * 8, "files")


def ksm(g, folder, args):
    r = run(folder, "default", TWO, "workflow.train=False",
            "workflow.checkpoint=True", "checkpoint.num_checkpoints_write=1",
            "checkpoint.num_checkpoints_read=1",
            "checkpoint.randomize_tensor=False", *args)
    if g.check(r.status == 0, r.why()):
        g.equal(r.results["checkpoint_writes"], 1, "writes")
        g.equal(r.results["checkpoint_reads"], 1, "reads")
    if args:  # random pages are never equal
        r = run(folder, "default", TWO, "workflow.train=False",
                "workflow.checkpoint=True",
                "checkpoint.num_checkpoints_write=1", *args, name="random")
        g.equal(r.status, 3, "status with random contents")
        g.check("checkpoint.ksm" in r.err, "said: " + r.err)


def traced(g, folder, framework, write, read):
    """Checkpoints alone; every event is rank 0's."""
    r = run(folder, "default", TWO, "workflow.train=False",
            "workflow.checkpoint=True", "framework=" + framework,
            "checkpoint.num_checkpoints_write=%d" % write,
            "checkpoint.num_checkpoints_read=%d" % read,
            "checkpoint.time_between_checkpoints=%s" % (
                0.005 if read else -1), "emulate.trace=true")
    if not g.check(r.status == 0, r.why()):
        return
    for name, want in (("capture", write), ("restart", read),
                       ("compute", write + read)):
        g.equal(len(r.events(name, 0)), want, name)
    for e in r.events("capture", 0) + r.events("restart", 0):
        g.check(e["cat"] == "checkpoint" and e["dur"] > 0, "event %s" % e)
    g.equal(len(r.events("fetch.iter")), 0, "fetch.iter")
    files = names_in(os.path.join(folder, "checkpoints"))
    kind = ".pb-1.index" if framework == "tensorflow" else ".pt"
    g.equal(len([n for n in files if n.endswith(kind)]), write, "files")


def traced_training(g, folder, framework, by, count):
    args = {"epoch": ("checkpoint.epochs_between_checkpoints=2",),
            "step": ("checkpoint.steps_between_checkpoints=2",)}[by]
    r = run(folder, "default", TWO, *QUICK, "workflow.generate_data=True",
            "workflow.checkpoint=True", "workflow.evaluation=False",
            "dataset.num_files_train=16", "reader.batch_size=2",
            "train.epochs=4", "framework=" + framework,
            "reader.data_loader=" + framework, "emulate.trace=true", *args)
    if g.check(r.status == 0, r.why()):
        g.equal(len(r.events("capture", 0)), count, "capture")
        g.equal(len(r.events("restart")), 0, "restart")
        check_training(g, r, count)


def check_training(g, r, count):
    """Checkpoints change nothing about what is trained."""
    g.equal(r.results["checkpoint_writes"], count, "checkpoint_writes")
    g.equal(r.results["steps"], 4 * 4 * 2, "steps")
    saved = sum(k.startswith("save_ckpt") for e in r.epochs[0].values()
                for k in e)
    g.equal(saved, count, "save_ckpt in per_epoch_stats")


def ci_subset(g, folder):
    """llama_8b_zero3 as 2 of 1024 ranks, made small."""
    r = run(folder, "llama_8b_zero3", TWO, "model.parallelism.data=1024",
            "checkpoint.mode=subset", "model.num_layers=1",
            "model.transformer.hidden_size=256",
            "model.transformer.ffn_hidden_size=512",
            "model.transformer.vocab_size=4096",
            "checkpoint.time_between_checkpoints=0",
            "checkpoint.num_checkpoints_write=2",
            "checkpoint.num_checkpoints_read=2")
    if not g.check(r.status == 0, r.why()):
        return
    found = names_in(os.path.join(folder, "checkpoints"))
    want = ["llama_8b_zero3/global_epoch1_step%d/zero_pp_rank_%d_mp_rank_0_"
            "%s_states.pt" % (step, rank, what) for step in (1, 2)
            for rank in (0, 1) for what in ("model", "optim")]
    g.equal(found, sorted(want), "files")
    g.equal(r.results["checkpoint_ranks"], 2, "ranks")
    # Parameters: 2Vh + h + 2h + h(h + 2kv) + h² + 3hf, kv = h/32·8.
    h, f, v = 256, 512, 4096
    total = 2 * v * h + h + 2 * h + h * (h + 2 * 64) + h * h + 3 * h * f
    part = total // 1024
    optimizer = 3 * (part + 5 * h) * 4
    model = 2 * (2 * (h * v // 1024) + h // 1024 * 3
                 + h * (h + 128) // 1024 + h * h // 1024
                 + 2 * h * f // 1024 + h * f // 1024)
    g.equal(r.results["checkpoint_bytes"], 2 * (model + optimizer), "bytes")
    g.check("(subset)" in r.text("dlio.log"), "dlio.log: no word on a subset")
    g.check("of 1024" in r.results["verdict"] and "of 1024" in r.out,
            "the size of the whole job is not told: " + r.out)


# Section 10.2: files, total GiB, GiB of rank 0.
MODELS = {
    "llama3_8b": (8030261248, 16, "104.70", "1.870", "11.218"),
    "llama3_70b": (69882617856, 128, "911.21", "2.034", "12.204"),
    "llama_70b": (69882617856, 728, "911.21", "4.191", "12.204"),
    "llama3_405b": (405853388800, 1544, "5292.25", "3.458", "8.860"),
    "llama3_1t": (1183035102480, 2072, "15426.59", "5.052", "12.913"),
    "llama_7b": (6738415616, 9, "87.86", "12.551", "9.414"),
}


def planned(g, folder, name):
    done = subprocess.run([PRONY, "plan", "--format", "json", name],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, cwd=folder,
                          env=dict(os.environ, PRONY_SHARE=SRC))
    if not g.check(done.returncode == 0, done.stderr.decode()):
        return
    c = json.loads(done.stdout)["checkpoints"][0]
    got = (c["parameters"], c["files"], "%.2f" % (c["bytes"] / 2**30),
           "%.3f" % (c["rank0_model_bytes"] / 2**30),
           "%.3f" % (c["rank0_optimizer_bytes"] / 2**30))
    g.equal(got, MODELS[name], "sizes")
    g.equal(os.listdir(folder), [], "files")


def own_tests(tap):
    for framework in ("tensorflow", "pytorch"):
        for groups, layers, zero in (
                ("[1024,128]", 2, 0), ("[1024,128]", 2, 3), ("[128]", 1, 0)):
            for randomize in (True, False):
                tap.row("test_checkpoint_epoch", "%s %s %d zero %d %s" % (
                    framework, groups, layers, zero, randomize), by_epoch,
                    framework, groups, layers, zero, randomize)
        for write, read in ((1, 1), (3, 2), (2, 0), (4, 4), (5, 1), (1, 0)):
            tap.row("test_ai_logging_checkpoint_only", "%s %d %d" % (
                framework, write, read), traced, framework, write, read)
        for by, count in (("epoch", 2), ("step", 8)):
            tap.row("test_ai_logging_train_with_checkpoint", "%s %s" % (
                framework, by), traced_training, framework, by, count)
    tap.row("test_checkpoint_step", "64 files", by_step)
    for what, args in (
            ("absent", ()), ("{}", ("checkpoint.ksm={}",)),
            ("values", ("checkpoint.ksm.high_ram_trigger=25.5",
                        "checkpoint.ksm.await_time=100"))):
        tap.row("test_checkpoint_ksm_config", what, ksm, args)
    tap.row("CI", "llama_8b_zero3 subset", ci_subset)
    for name in MODELS:
        tap.row("sizes of models", name, planned, name)


# ----------------------------------------------------------- tensors, by facts


def facts_of(name):
    """Files of a case: the type and the bytes of each tensor."""
    found = {}
    for kind, sizes, files in FACTS[name][1]:
        for f in files.split():
            found["global_epoch1_step1/%s.pt" % f] = [(kind, b) for b in sizes]
    return found


def plain_tensors(path):
    """Of a file as safetensors has them, in the order of their bytes."""
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        header = json.loads(f.read(size))
    header.pop("__metadata__", None)
    rows = sorted(header.values(), key=lambda v: v["data_offsets"][0])
    at, found = 0, []
    for v in rows:
        begin, end = v["data_offsets"]
        if begin != at:
            raise ValueError("%s: a gap before %d" % (path, begin))
        at = end
        found.append((v["dtype"], end - begin))
    if (8 + size) % 4096 or os.path.getsize(path) != 8 + size + at:
        raise ValueError("%s: %d + %d bytes" % (path, size, at))
    return found


LOADER = """
import json, os, sys, torch
SHORT = {"float16": "F16", "bfloat16": "BF16", "float32": "F32",
         "float64": "F64", "int8": "I8", "uint8": "U8"}
def storage(v):
    return getattr(v, "untyped_storage", v.storage)()  # PyTorch 1 has the last
def walk(v, found):
    if isinstance(v, torch.Tensor):
        found.setdefault(storage(v).data_ptr(), (
            SHORT[str(v.dtype)[6:]], v.numel() * v.element_size()))
    else:
        for x in v.values() if isinstance(v, dict) else v:
            walk(x, found)
top, out = sys.argv[1], {}
for at, _, names in os.walk(top):
    for n in names:
        path = os.path.join(at, n)
        found = {}
        walk(torch.load(path), found)
        out[os.path.relpath(path, top)] = list(found.values())
json.dump(out, sys.stdout)
"""


def python_with_torch():
    for p in (os.path.join(os.path.dirname(REAL), "python") if REAL else "",
              sys.executable):
        if p and subprocess.run([p, "-c", "import torch"], check=False,
                                stderr=subprocess.DEVNULL).returncode == 0:
            return p
    return ""


def torch_tensors(g, python, folder):
    done = subprocess.run([python, "-c", LOADER, folder], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if not g.check(done.returncode == 0, done.stderr.decode()[-900:]):
        return {}
    return {name: [tuple(t) for t in found]
            for name, found in json.loads(done.stdout).items()}


def ours(g, folder, name, count=0, **more):
    processes, values = CASES[name]
    r = run(folder, "default", "exp.accelerators=%d" % (count or processes),
            *("%s=%s" % row for row in {**ONLY, **values, **more}.items()))
    return r if g.check(r.status == 0, r.why()) else None


def same_tensors(g, what, got, want):
    g.equal(sorted(got), sorted(want), what + ": files")
    for name in sorted(set(got) & set(want)):
        g.equal(got[name], want[name], what + ": " + name)


def known(g, folder, name):
    """What we write, against what DLIO wrote."""
    verify = {"checkpoint.verify": "true"}
    r = ours(g, folder, name, **verify)
    if not r:
        return
    top = os.path.join(folder, "checkpoints")
    got = {n: plain_tensors(os.path.join(top, n)) for n in names_in(top)}
    want = facts_of(name)
    same_tensors(g, name, got, want)
    disk = sum(b for t in want.values() for _, b in t)
    g.equal(r.results["checkpoint_bytes"], disk, "checkpoint_bytes")
    g.equal(r.results["checkpoint_files"], len(want), "checkpoint_files")
    size = round(r.summary["metric"]["checkpoint_size_GB"] * 2**30)
    # Q18: of lists DLIO counts only the blob of rank 0.
    g.equal(size, disk, "checkpoint_size_GB")
    wrong = name == "zero2" or name.startswith("lists")
    g.equal(FACTS[name][0] == disk, not wrong, "Q18")
    g.equal(list(r.summary["metric"]), METRIC_ONLY if r.results.get(
        "checkpoint_reads") else METRIC_WRITE, "metric")


def by_torch(g, folder, name, python):
    if not python:
        g.skip = "no python with torch; name one by $PRONY_DLIO"
        return
    torch = {"checkpoint.layout": "torch", "checkpoint.verify": "true"}
    if ours(g, folder, name, **torch):
        same_tensors(g, name, torch_tensors(g, python, os.path.join(
            folder, "checkpoints")), facts_of(name))


def real(g, folder, name, python):
    """The real DLIO, against the facts."""
    if not REAL:
        g.skip = "no DLIO; name its dlio_benchmark by $PRONY_DLIO"
        return
    count, values = CASES[name]
    code, said = dlio(folder, count, {**ONLY, **values}, program=REAL)
    if not g.check(code == 0, "status %d: %s" % (code, said[-900:])):
        return
    same_tensors(g, name, torch_tensors(g, python, os.path.join(
        folder, "checkpoints")), facts_of(name))
    with open(os.path.join(folder, "run", "summary.json"),
              encoding="utf-8") as f:
        m = json.load(f)["metric"]  # with NaN, which is not JSON
    g.equal(round(m["checkpoint_size_GB"] * 2**30), FACTS[name][0], "size")
    g.equal(list(m), METRIC_ONLY if values.get(
        "checkpoint.num_checkpoints_read", 1) else METRIC_WRITE, "metric")


def read_back(g, folder, name, framework):
    """We read what the real DLIO wrote, and see a byte that changed. It cannot
    read its own of TensorFlow's, so that it only writes."""
    if not REAL:
        g.skip = "no DLIO; name its dlio_benchmark by $PRONY_DLIO"
        return
    count, values = CASES[name]
    code, said = dlio(folder, count, {
        **ONLY, **values, "framework": framework,
        "reader.data_loader": framework, "workflow.evaluation": "False",
        "checkpoint.num_checkpoints_read": 0}, "real", REAL)
    if "No module named 'tensorflow'" in said:
        g.skip = "the python of $PRONY_DLIO has no tensorflow; install it there"
        return
    if not g.check(code == 0, "status %d: %s" % (code, said[-900:])):
        return
    more = {"framework": framework, "checkpoint.num_checkpoints_write": 0,
            "checkpoint.num_checkpoints_read": 1, "checkpoint.verify": "true"}
    r = ours(g, folder, name, **more)
    if not r:
        return
    g.equal(r.results["checkpoint_reads"], 1, "reads")
    path = max(glob.glob(os.path.join(folder, "checkpoints", "*", "*")),
               key=os.path.getsize)
    with open(path, "r+b") as f:
        f.seek(os.path.getsize(path) // 2)
        byte = f.read(1)
        f.seek(-1, 1)
        f.write(bytes([byte[0] ^ 1]))
    shutil.rmtree(os.path.join(folder, "run"))
    r = run(folder, "default", "exp.accelerators=%d" % count,
            *("%s=%s" % row for row in {**ONLY, **values, **more}.items()))
    g.check(r.status != 0 and "not what was written" in r.why(),
            "a byte that changed: " + r.why())


def tensors(tap):
    python = python_with_torch()
    for framework in ("pytorch", "tensorflow"):
        for name in ("zero1", "types", "lists_pipeline"):
            tap.row("we read what the real DLIO wrote", framework + " " + name,
                    read_back, name, framework)
    for name in CASES:
        tap.row("files and tensors as DLIO's", name, known, name)
        tap.row("torch.load reads ours", name, by_torch, name, python)
        tap.row("the real DLIO", name, real, name, python)


# ------------------------------------------------------------------------ keys


def stats_keys(stats):
    """Keys of each epoch and of what is in it."""
    return {e: {k: list(v) if isinstance(v, dict) else type(v).__name__
                for k, v in epoch.items()} for e, epoch in stats.items()}


def training_keys(g, folder, name):
    """What a training with checkpoints tells, against what DLIO told."""
    args, metric, stats, folders = TRAININGS[name]
    values = {**TRAINING, **args}
    r = run(folder, "default", TWO, "emulate.drop_cache=never",
            *("%s=%s" % row for row in values.items()))
    if not g.check(r.status == 0, r.why()):
        return
    g.equal(list(r.summary["metric"]), metric, "metric")
    for rank, one in enumerate(r.epochs):
        g.equal({e: list(v) for e, v in stats_keys(one).items()},
                {e: list(v) for e, v in stats.items()}, "keys of rank %d"
                % rank)
        g.equal(stats_keys(one), stats, "rank %d" % rank)
    top = os.path.join(folder, "checkpoints")
    g.equal(sorted(os.listdir(top)), folders, "folders")
    g.equal(len(names_in(top)), 3 * len(folders), "files")


def only_keys(g, folder):
    """Of checkpoints alone: also what an epoch without training has."""
    r = ours(g, folder, "zero3", **{"checkpoint.num_checkpoints_write": 2})
    if not r:
        return
    want = {"1": {"start": "str", **{n: STAMPS for n in (
        "save_ckpt1", "save_ckpt2", "load_ckpt1")}, "end": "str"}}
    for rank, one in enumerate(r.epochs):
        got = stats_keys(one)
        g.equal(list(got.get("1", {})), list(want["1"]), "keys of rank %d"
                % rank)
        g.equal(got, want, "rank %d" % rank)
    for rank, one in enumerate(r.outputs):
        g.equal(list(one.get("1", {})), ["start", "load", "proc", "throughput",
                                         "au", "compute", "end"],
                "R_output.json of rank %d" % rank)
    for kind in ("save", "load"):
        m = r.summary["metric"]
        rate = m[kind + "_checkpoint_io_mean_GB_per_second"]
        spent = m[kind + "_checkpoint_duration_mean_seconds"]
        g.check(rate > 0 and spent > 0, "%s: %s GB/s, %s s" % (
            kind, rate, spent))
    one = r.epochs[0]["1"]["load_ckpt1"]
    g.check(abs(one["duration"] * one["throughput"]
                - r.summary["metric"]["checkpoint_size_GB"]) < 1e-9,
            "throughput is not size by duration: %s" % one)


def keys(tap):
    for name in TRAININGS:
        tap.row("keys as DLIO's", name, training_keys, name)
    tap.row("keys as DLIO's", "checkpoints alone", only_keys)


# ------------------------------------------------------- where DLIO is wrong


def operations(folder, name="ops"):
    found = []
    for path in glob.glob(os.path.join(folder, name + "*")):
        with open(path, encoding="utf-8") as f:
            found += [json.loads(line) for line in f]
    return found


def synced(g, folder, wanted):
    """Q3: each file and its folders, or none."""
    r = ours(g, folder, "zero3", **{
        "checkpoint.fsync": wanted, "storage.trace": os.path.join(
            folder, "ops%t")})
    if not r:
        return
    ops = [o for o in operations(folder) if o["op"] == "sync"]
    g.equal(len(ops), 4 if wanted else 0, "syncs")
    g.equal(r.results["checkpoint_fsync"], wanted, "checkpoint_fsync")


def no_sleep(g, folder):
    """Q11."""
    began = time.monotonic()
    r = ours(g, folder, "zero3", **{
        "checkpoint.num_checkpoints_write": 3,
        "checkpoint.time_between_checkpoints": -1})
    took = time.monotonic() - began
    # DLIO sleeps 4 s.
    g.check(r and took < 3.5, "took %.1f s" % took)
    began = time.monotonic()
    shutil.rmtree(os.path.join(folder, "run"))
    ours(g, folder, "zero3", **{"checkpoint.time_between_checkpoints": 0.4})
    took = time.monotonic() - began
    g.check(took >= 0.8, "time_between_checkpoints was not waited: %.2f s"
            % took)


def slowest(g, folder):
    """Q19: the summary has the slowest rank, as the rules want, and a rank's
    file what it took itself: one thread takes the ranks in turn."""
    for sync in ("false", "true"):
        shutil.rmtree(os.path.join(folder, "run"), ignore_errors=True)
        r = ours(g, folder, "zero3", 4, **{
            "checkpoint.rank_sync": sync, "checkpoint.writers": 1})
        if not r:
            return
        for op, verb in (("write", "save"), ("read", "load")):
            all_s = r.results["checkpoint_%s_s" % op]
            metric = r.summary["metric"]
            said = metric[verb + "_checkpoint_duration_mean_seconds"]
            rate = metric[verb + "_checkpoint_io_mean_GB_per_second"]
            own = [e["1"][verb + "_ckpt1"] for e in r.epochs]
            took = [x["duration"] for x in own]
            g.check(abs(said - all_s) < 1e-9, "%s: the summary has %s of %s"
                    % (op, said, all_s))
            g.equal(took, sorted(took), op + ": own times")
            g.equal(len(set(took)), 1 if sync == "true" else 4,
                    op + ": %s differ" % took)
            # A float has seven digits.
            g.check(abs(max(took) / said - 1) < 1e-6, "%s: the slowest of %s "
                    "is not %s" % (op, took, said))
            least = min(x["throughput"] for x in own)
            g.check(abs(least / rate - 1) < 1e-6, "%s: %s GB/s, least %s" % (
                op, rate, least))


def shifted(g, folder):
    """Q4: one thread takes the ranks in turn, so that the order tells."""
    for shift in (0, 1, 3):
        shutil.rmtree(os.path.join(folder, "run"), ignore_errors=True)
        for old in glob.glob(os.path.join(folder, "ops*")):
            os.remove(old)
        values = {"checkpoint.verify": "true", "checkpoint.writers": 1,
                  "storage.trace": os.path.join(folder, "ops%t"),
                  "model.parallelism.data": 4}
        if shift:
            values.update({"checkpoint.recovery_rank_shift": "true",
                           "checkpoint.rank_shift": shift})
        if not ours(g, folder, "zero3", 4, **values):
            continue
        read = [int(o["name"].split("zero_pp_rank_")[1].split("_")[0])
                for o in operations(folder) if o["op"] == "read"]
        g.equal(list(dict.fromkeys(read)), [(i + shift) % 4 for i in range(4)],
                "ranks read, shifted by %d" % shift)


def fixed(tap):
    name = "where DLIO is wrong"
    tap.row(name, "Q3 fsync", synced, True)
    tap.row(name, "Q3 no fsync", synced, False)
    tap.row(name, "Q4 rank shift", shifted)
    tap.row(name, "Q11 no sleep", no_sleep)
    tap.row(name, "Q19 slowest rank", slowest)


def main():
    tap = Tap()
    if not REAL:
        print("SKIP: the real DLIO, which $PRONY_DLIO would name; what it "
              "wrote is known")
    if not MPIRUN:
        print("SKIP: mpirun is not there; accelerators are emulated without")
    for add in (own_tests, tensors, keys, fixed):
        add(tap)
    tap.finish(jobs=2)


main()
