#!/usr/bin/python3
"""What a profiler of NVIDIA's hears: ranges by NVTX's protocol and by the older
library, cudaProfilerStart and Stop, recorded by a stand-in
(tests/fake_nvtx/fake_nvtx.c). The sequence is the one that benchy gives, but
that no rank leaves ranges open and the profiler is stopped."""

import os
import shutil
import sys
import tempfile

from _python import need_extension, run, skip
from _tap import check, end

need_extension()
FAKE = os.environ.get("FAKE_NVTX", "")
if not os.path.exists(FAKE):
    skip("no stand-in for a profiler; set FAKE_NVTX")
TWO = """
global:
        profiler_mode: '%s'
        report_freq: 0
IO: { nbatches: 2, ntrials: 1, nwarmup: 0 }
synthetic: { nbatches: 2, ntrials: 1, nwarmup: 1 }
full: { run_benchmark: False }
"""
SCRIPT = """
import ctypes, os, prony
if os.environ.get("RUNTIME"):
    ctypes.CDLL(os.environ["RUNTIME"])
for n, batch in enumerate(prony.wrap([[0]] * 9, 1)): %s
"""


def names(label, cached):
    """The calls of a trial of two batches."""
    main = "BENCHY::BenchmarkIterator::" + label
    calls = ["push " + main, "push %s::STEP_0" % main]
    for step in range(2):
        if not cached:
            calls += ["push %s::DATA_%d" % (main, step), "pop"]
        calls += ["pop", "push %s::STEP_%d" % (main, step + 1)]
    return calls + ["pop", "pop"]


ALL = names("IO_0", False) + names("SYNTHETIC_WARMUP_0", True) + names(
    "SYNTHETIC_0", True)


def calls(loop="pass", mode="single", **env):
    got = run(SCRIPT % loop, config=TWO % mode, FAKE_NVTX_LOG="log", **env)
    return got, got.files.get("log", "").splitlines()


got, log = calls(NVTX_INJECTION64_PATH=FAKE)
check(log == ["attached"] + ALL, "ranges by NVTX's protocol", got.all +
      "\n".join(log))

with tempfile.TemporaryDirectory() as folder:
    shutil.copy(FAKE, os.path.join(folder, "libnvToolsExt.so.1"))
    got, log = calls(LD_LIBRARY_PATH=folder)
    check(log == ALL, "ranges by libnvToolsExt", got.all + "\n".join(log))

got, log = calls("1 / (n < 1)", NVTX_INJECTION64_PATH=FAKE)
check(got.status == 1 and sum(1 if c.startswith("push") else -1
                              for c in log[1:]) == 0 and len(log) > 10,
      "an exception leaves no range open", "\n".join(log))

got, log = calls(RUNTIME=FAKE)
check(log == ["start", "stop"], "the profiler is started and stopped",
      got.all + "\n".join(log))
check("Profiling mode single. Starting profiler on rank 0 only." in got.out,
      "and that is said", got.out)
got, log = calls(RUNTIME=FAKE, mode="none")
check(log == [] and "Profiling" not in got.out, "not with profiler_mode none",
      got.all + "\n".join(log))
got, log = calls()
check(got.status == 0 and log == [], "without a profiler nothing is loaded",
      got.all)
got, log = calls(NVTX_INJECTION64_PATH="/nowhere/lib.so")
check(got.status == 0, "a profiler that is not there does no harm", got.all)
sys.exit(end())
