#!/usr/bin/python3
"""Two processes under torch.distributed (gloo), one of them slower: rates are
those of both, rank 0's view stands beside, and a rank that leaves its loop
early leaves nobody waiting. Needs PyTorch ($PRONY_TORCH_PYTHON, build/venv)."""

import json
import os
import socket
import subprocess
import sys
import tempfile

from _python import FEW, interpreter, need_extension, skip, start
from _tap import check, end

need_extension()
PYTHON = interpreter("PRONY_TORCH_PYTHON", "torch")
if not PYTHON:
    skip("no PyTorch; \"make python-deps\"")
# Rank 0 takes 10 ms a batch of 4, rank 1 takes 30.
SCRIPT = """
import json, os, sys, time, torch
import torch.distributed as dist
from benchy.torch import BenchmarkGenericIteratorWrapper
dist.init_process_group("gloo")
rank = dist.get_rank()
class Source:
    def __iter__(self):
        while True:
            time.sleep(.03 if rank else .01)
            yield torch.zeros(4, 2)
loader = BenchmarkGenericIteratorWrapper(Source(), 4)
%s
print("RESULTS", json.dumps(loader.results))
"""
ALL = "for epoch in range(8):\n    for batch in loader: pass\n"
ONE_BREAKS = """
for epoch in range(8):
    for n, batch in enumerate(loader):
        if rank == 1 and epoch == 6 and n == 2: break
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def both(code, config=FEW):
    """(status, stdout, stderr, files) of each rank."""
    port, out = free_port(), []
    with tempfile.TemporaryDirectory() as top:
        ranks = []
        for rank in "01":
            folder = os.path.join(top, rank)
            os.mkdir(folder)
            ranks.append(subprocess.Popen(**start(
                folder, code, PYTHON, config, RANK=rank, WORLD_SIZE="2",
                MASTER_ADDR="127.0.0.1", MASTER_PORT=port,
                GLOO_SOCKET_IFNAME="lo")))
        for rank, p in zip("01", ranks):
            try:
                text = p.communicate(timeout=200)
            except subprocess.TimeoutExpired:
                p.kill()
                text = p.communicate()
            out.append((p.returncode, *text, os.listdir(
                os.path.join(top, rank))))
    return out


def results(rank):
    line = [x for x in rank[1].splitlines() if x.startswith("RESULTS ")]
    return json.loads(line[0][8:]) if line else {}


def shown(ranks):
    return "".join("rank %d: %s\n%s%s\n" % (i, r[0], r[1], r[2])
                   for i, r in enumerate(ranks))


ranks = both(SCRIPT % ALL)
r0, r1 = map(results, ranks)
check(ranks[0][0] == ranks[1][0] == 0 and r0 and r1, "two ranks end",
      shown(ranks))
if r0 and r1:
    check(r0["nranks"] == 2 and "BENCHY" not in ranks[1][1]
          and "benchy_result.json" in ranks[0][3]
          and "benchy_result.json" not in ranks[1][3],
          "rank 0 alone says and writes", shown(ranks))
    for phase in ("IO", "FULL"):
        total = r0[phase]["trial_throughput"]
        own = [r["rank0"][phase]["trial_throughput"] for r in (r0, r1)]
        check(all(abs(t / ((a + b) / 2) - 1) < 1e-9
                  for t, a, b in zip(total, *own)),
              phase + ": the rate is the sum of both ranks'", shown(ranks))
        check(all(a > t > 0 for t, a in zip(total, own[0])
                  if phase == "IO") and own[0] != own[1],
              phase + ": rank 0's view, twice its own, stands beside",
              shown(ranks))
    check(all(abs(sum(x) / 5 / a - 1) < 1e-9 for x, a in
              zip(r0["FULL"]["rates"], r0["FULL"]["avg_iter_throughput"])),
          "rates of each batch are summed", shown(ranks))

ranks = both(SCRIPT % ONE_BREAKS)
r0, r1 = map(results, ranks)
check(ranks[0][0] == ranks[1][0] == 0 and r0 and
      [len(x) for x in r0["FULL"]["rates"]] == [5, 5, 5] and
      [len(x) for x in r1["FULL"]["rates"]] == [5, 2, 5],
      "one rank leaves a loop early: nobody waits for it", shown(ranks))

ranks = both(SCRIPT % ALL, FEW.replace(
    "global:", "global:\n        use_distributed_barrier: True"))
r0 = results(ranks[0])
check(r0 and all(abs(a / b - 1) < .5 for a, b in zip(
    r0["IO"]["trial_time"], results(ranks[1])["IO"]["trial_time"]))
    and r0["rank0"]["IO"]["trial_time"][0] > 5 * .03,
    "use_distributed_barrier: each step takes as long as the slowest",
    shown(ranks))
sys.exit(end())
