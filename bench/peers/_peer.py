"""How a benchmark talks to a peer: "ready" once, then for each line that comes
in the thing is done once and the seconds it took go out."""

import os
import sys
import time


def cannot(why):
    print(why, flush=True)
    sys.exit(0)


def files(folder):
    """Files of a folder, by name."""
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


CLOCK = (time.process_time if os.environ.get("BENCH_CLOCK") == "cpu"
         else time.perf_counter)


def serve(work):
    """work() does it once; it may return numbers to answer with instead of
    the seconds it took."""
    print("ready", flush=True)
    for _ in sys.stdin:
        start = CLOCK()
        answer = work()
        seconds = CLOCK() - start
        print(*(answer or (seconds,)), flush=True)
