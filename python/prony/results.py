"""What a back-end tells prony: lines `__results.NAME__= JSON` on stdout, which
is the experiment's log, and an exit status."""

import contextlib
import json
import math
import os
import sys
import time

# Exit statuses, as those of prony.
FAILED, BAD_PARAMS, UNAVAILABLE, BAD_FILE = 1, 3, 4, 5

LISTED = 10000  # values of a series, at most


class Refusal(Exception):
    """It cannot be done, or went wrong: words for the user and a status."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def put(name, value):
    """A figure; what is not known is left out."""
    if value is not None:
        print("__results.%s__= %s" % (name, json.dumps(value)), flush=True)


def put_exp(name, value):
    print("__exp.%s__= %s" % (name, json.dumps(value)), flush=True)


def warn(text):
    print("__warning__= %s" % json.dumps(text), flush=True)


class Progress:
    """How far it is, for whoever watches: a small file that prony reads, in
    the experiment's folder (None: nobody watches)."""

    def __init__(self, folder):
        self.path = folder and os.path.join(folder, "progress.json")
        self.since = self.said = time.monotonic()

    def say(self, text, done):
        now = time.monotonic()
        if not self.path or now < self.said + 1:
            return
        self.said, done = now, min(done, 1)
        left = {"left_s": (now - self.since) * (1 - done) / done} \
            if done > 0 else {}
        with contextlib.suppress(OSError):
            with open(self.path + ".new", "w", encoding="utf-8") as f:
                json.dump({"text": text, "done": done, **left}, f)
            os.replace(self.path + ".new", self.path)

    def end(self):
        if self.path:
            with contextlib.suppress(OSError):
                os.unlink(self.path)


def guarded(function):
    """Calls it; a refusal becomes the last line of the log and the status."""
    try:
        function()
        return 0
    except Refusal as refusal:
        sys.stdout.flush()
        print("prony: %s" % refusal, file=sys.stderr, flush=True)
        return refusal.status


def seconds_since_start():
    """Since this process began, imports included."""
    with open("/proc/self/stat", encoding="ascii", errors="replace") as f:
        # The name, second, may hold blanks; the start is the 22nd.
        ticks = int(f.read().rpartition(")")[2].split()[19])
    return (time.clock_gettime(time.CLOCK_BOOTTIME)
            - ticks / os.sysconf("SC_CLK_TCK"))


def scaled(value, unit, prefixes=("", "k", "M", "G", "T", "P")):
    """Three digits, with the prefix that suits: 355 MB."""
    at = 0
    while abs(value) >= 999.5 and at + 1 < len(prefixes):
        value, at = value / 1e3, at + 1
    value = float("%.3g" % value)
    digits = max(0, 2 - math.floor(math.log10(abs(value) or 1)))
    return "%.*f %s%s" % (digits, value, prefixes[at], unit)


def percentile(ordered, share):
    """Of numbers in order, between two of them in proportion."""
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def thinned(series):
    """All of it, or every second, fourth … value."""
    every = 1
    while len(series) > LISTED * every:
        every *= 2
    return series[::every]


def put_times(milliseconds, batch):
    """results.time and what belongs to it. Returns the mean."""
    n = len(milliseconds)
    mean = sum(milliseconds) / n
    ordered = sorted(milliseconds)
    put("time", mean)
    put("time_data", thinned(milliseconds))
    put("time_std",
        math.sqrt(sum((t - mean) ** 2 for t in milliseconds) / n))
    put("time_min", ordered[0])
    put("time_max", ordered[-1])
    for name, share in (("p50", .5), ("p90", .9), ("p99", .99)):
        put("time_" + name, percentile(ordered, share))
    put("throughput", batch / mean * 1e3)
    put_timing([t / 1e3 for t in milliseconds], batch)
    return mean


SLICE = 0.5  # seconds, as milarun's


def slices(seconds, items):
    """Rates over half seconds with what is carried over, as docs/measures.md
    has them: for steps that took so long, of so many items each."""
    rates, time_left, items_left = [], 0.0, 0.0
    for s in seconds:
        time_left += s
        items_left += items
        if time_left >= SLICE:
            whole = time_left / SLICE
            rates += [items_left / time_left] * math.floor(whole)
            each = items_left / whole
            time_left = math.fmod(time_left, SLICE)
            items_left = math.fmod(items_left, each) if each else 0.0
    if time_left > 0:
        rates.append(items_left / time_left)
    return rates


def put_timing(seconds, items):
    """results.timings.train: what a suite takes the steady state from."""
    now, total = time.time(), sum(seconds)
    local = lambda t: time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(t)) + \
        ".%06d" % (t % 1 * 1e6)
    put("timings.train", {
        "type": "milabench.experiment.RateLogger", "start": local(now - total),
        "end": local(now), "wall_time": total, "time": total, "overhead": 0.0,
        "sample_duration": SLICE, "rates": slices(seconds, items)[-65536:],
        "metrics": {}})


def put_losses(losses):
    """Of every step, those before measuring included."""
    if losses:
        put("loss", losses[-1])
        put("loss_data", thinned(losses))
