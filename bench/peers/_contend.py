"""How a benchmark's contender talks (contender.h): what it is, "ready", then
for each line with a number that many steps, and the seconds of each."""

import os
import sys
import time

# The answer goes where stdout was; whatever else prints goes to stderr.
OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

CLOCK = (time.process_time if os.environ.get("BENCH_CLOCK") == "cpu"
         else time.perf_counter)


def say(*words):
    print(*words, file=OUT, flush=True)


def cannot(why):
    say("cannot", " ".join(str(why).split()))
    sys.exit(0)


CALLS = 8  # where many steps are measured together, between looks at the clock


def measure(step, block_s):
    """Seconds of a step, the mean of as many as take that long; 0: of one. A
    step may return how many items it was: the mean of these then."""
    items, calls, start = 0, CALLS if block_s else 1, CLOCK()
    while True:
        for _ in range(calls):
            items += step() or 1
        took = CLOCK() - start
        if took >= block_s:
            return took / items


def serve(step, block_s=0):
    say("ready")
    for line in sys.stdin:
        say(*["%.9f" % measure(step, block_s) for _ in range(int(line))])


def find_prony():
    """Prony's own Python modules, beside the benchmarks."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.join(here, "..", "..", "python"))


def random_norms(net):
    """Batch norms as after some training: equal ones would be merged. What is
    computed stays the same."""
    for name, t in net.tensors().items():
        if name.endswith(".mean"):
            t.uniform_(-.1, .1)
        elif t.dim() == 1 and name.endswith((".weight", ".var")):
            t.uniform_(.9, 1.1)
