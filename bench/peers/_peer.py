"""How a benchmark talks to a peer: "ready" once, then for each line that comes
in the thing is done once and the seconds it took go out."""

import os
import re
import shlex
import sys
import time


def cannot(why):
    print(why, flush=True)
    sys.exit(0)


def beside_dlio():
    """The interpreter that DLIO runs with, or None."""
    words = shlex.split(os.environ.get("PRONY_DLIO")
                        or os.environ.get("DLIO") or "")
    for word in words:
        path = os.path.join(os.path.dirname(word), "python3")
        if os.path.dirname(word) and os.access(path, os.X_OK):
            return path
    return None


def ask_dlios(why):
    """This Python lacks something: go on with the one of DLIO, or give up."""
    other = beside_dlio()
    if not other or os.environ.get("BENCH_OTHER_PYTHON"):
        cannot("%s; set PYTHON to a Python that has torch" % why)
    os.environ["BENCH_OTHER_PYTHON"] = "1"
    os.execv(other, [other] + sys.argv)


def dlio_workload(config, folder):
    """A workload file for DLIO: Hydra finds it by the name bench in a folder
    called workload. Older versions know sizes of records by other names."""
    os.makedirs(os.path.join(folder, "workload"))
    with open(config, encoding="utf-8") as f:
        text = re.sub(r"^( *record_length)_bytes(\w*:.*)$", r"\g<0>\n\1\2",
                      f.read(), flags=re.MULTILINE)
    with open(os.path.join(folder, "workload", "bench.yaml"), "w",
              encoding="utf-8") as f:
        f.write(text)


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
