"""What back-ends have in common: arguments, batches to warm up and those that
count, results, an orderly end. A back-end is a class derived from Run."""

import argparse
import math
import os
import signal
import sys
import time

from .params import read, read_json
from .results import (BAD_PARAMS, FAILED, UNAVAILABLE, Progress, Refusal, put,
                      put_exp, put_losses, put_times, scaled,
                      seconds_since_start, warn)

PEAK_SIDES, PEAK_CALLS, PEAK_SECONDS = (192, 384, 768, 1536), 8, 1.0


class Stop(KeyboardInterrupt):
    """Somebody asked for the end."""

    asked = 0  # the signal

    @staticmethod
    def on_signal(number, _frame):
        Stop.asked = number
        raise Stop


def stopped():
    return Refusal(128 + Stop.asked, "interrupted")


def is_real(params):
    """Whether a data set is to be read, by the rule of the native engine."""
    return bool(params["exp.data_dir"] or params["exp.data"] == "real"
                or params["dataset.data_folder"] != "./data/"
                or params["workflow.generate_data"])


def check(params, title, dtypes):
    """What can be said before the seconds that importing a framework takes."""
    if int(params["exp.replica_batch"]) < 1:
        raise Refusal(BAD_PARAMS, "exp.replica_batch must be at least 1")
    if int(params["exp.num_replicas"]) > 1:
        raise Refusal(UNAVAILABLE, "exp.num_replicas=%s: the %s back-end has "
                      "one replica" % (params["exp.num_replicas"], title))
    if params["exp.dtype"] not in dtypes:
        *most, last = dict.fromkeys(dtypes.values())
        raise Refusal(UNAVAILABLE, "exp.dtype=%s: the %s back-end has %s%s" % (
            params["exp.dtype"], title,
            ", ".join(most) + " and " if most else "", last))
    for name in ("nn.learning_rate", "nn.momentum", "nn.weight_decay"):
        if params[name] < 0 and params[name] != -1:
            raise Refusal(BAD_PARAMS, "%s=%g: it must not be below 0; -1 "
                          "means what the model says" % (name, params[name]))


def check_noise(params, title):
    """That no data is wanted."""
    if is_real(params):
        raise Refusal(UNAVAILABLE, "the %s back-end reads no data set, native "
                      "and PyTorch do; leave dataset.* and exp.data_dir out"
                      % title)
    if params["nn.data"] not in ("", "noise"):
        raise Refusal(UNAVAILABLE, "nn.data=%s: the %s back-end has noise"
                      % (params["nn.data"], title))


def cannot_import(title, variable, error):
    return Refusal(
        UNAVAILABLE, "%s cannot be imported by %s: %s; install it, set "
        "runtime.python or $%s to a Python that has it, or run `make "
        "python-deps`" % (title, sys.executable, error, variable))


def optimizer_of(spec, params):
    """As nn.* say, else the model. For one that is not the model's own,
    PyTorch's defaults."""
    said, kind = dict(spec["optimizer"]), params["nn.optimizer"]
    if kind and kind != said["name"]:
        said.update(learning_rate=1e-3, momentum=0, beta1=.9, beta2=.999,
                    epsilon=1e-8, name=kind)
    for name in ("learning_rate", "momentum", "weight_decay"):
        if params["nn." + name] >= 0:
            said[name] = params["nn." + name]
    return said


class Run:
    """A network and its batches, in a framework."""

    title = ""
    dtypes = {"float": "float32", "float32": "float32"}
    lacks = {"nn.profile": "no times of layers"}
    reads_data = False

    def __init__(self, params, spec):
        check(params, self.title, self.dtypes)
        if not self.reads_data:
            check_noise(params, self.title)
        for name, what in self.lacks.items():
            if params[name]:
                warn("%s: the %s back-end has %s" % (name, self.title, what))
        self.params, self.spec = params, spec
        self.batch = int(params["exp.replica_batch"])
        self.items = spec.get("items", 1)  # of a sample
        self.training = params["exp.phase"] == "training"
        self.threads = (int(params["nn.threads"])
                        or len(os.sched_getaffinity(0)))
        self.losses, self.times = [], []
        self.steps = self.samples = 0
        self.start_s = None
        self.prepare()

    # ------------------------------------------------------ by the framework

    def prepare(self):
        """Imports the framework; makes self.model, the network, and self.data,
        batches that are gone through again and again."""
        raise NotImplementedError

    def version(self):
        raise NotImplementedError

    def next_batch(self):
        self.steps += 1
        return self.data[(self.steps - 1) % len(self.data)]

    def compute(self, batch):
        """The loss, or None."""
        raise NotImplementedError

    def warmed_up(self):
        """What was measured until now does not count."""
        self.samples = 0

    def flops(self):
        """Of a sample."""
        return self.model.flops()

    def product(self, side):
        """A function that multiplies two square matrices. What its first call
        prepares is done."""
        raise NotImplementedError

    def tensors(self):
        """What nn.save writes: name to array."""
        raise NotImplementedError

    def memory_peak(self):
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    # --------------------------------------------------------------- steps

    def scored(self, loss):
        """One more loss of a step."""
        if not math.isfinite(loss):
            raise Refusal(FAILED, "the loss is not a number (%s) in step %d; "
                          "try a smaller nn.learning_rate"
                          % (loss, len(self.losses) + 1))
        self.losses.append(loss)

    def step(self):
        """One batch; its milliseconds."""
        start = time.perf_counter()
        loss = self.compute(self.next_batch())
        took = (time.perf_counter() - start) * 1e3
        if loss is not None:
            self.scored(loss)
        self.samples += self.batch
        return took

    def measure(self, progress):
        """Batches to warm up, then those that count."""
        p = self.params
        count, most = int(p["exp.num_batches"]), int(p["nn.max_count"])
        if not most and count < 1:
            raise Refusal(BAD_PARAMS, "no batch is measured; exp.num_batches "
                          "must be at least 1")
        self.start_s = seconds_since_start()
        for _ in range(int(p["exp.num_warmup_batches"])):
            progress.say("warming up", 0)
            self.step()
        self.warmed_up()
        progress.since = time.monotonic()
        while True:
            done = (self.samples * self.items / most if most
                    else len(self.times) / count)
            if done >= 1:
                break
            progress.say("batch %d%s" % (
                len(self.times) + 1, "" if most else " of %d" % count), done)
            self.times.append(self.step())

    # -------------------------------------------------------------- results

    def peak(self):
        """FLOP/s of a large product of matrices of this type, at best. Some
        processors have no float16: products grow while there is time."""
        self.product(PEAK_SIDES[0])()  # the first call prepares much
        best, until = 0.0, time.perf_counter() + PEAK_SECONDS
        for side in PEAK_SIDES:
            product = self.product(side)
            for _ in range(PEAK_CALLS):
                start = time.perf_counter()
                if best and start + 2 * side ** 3 / best > until:
                    return best
                product()
                best = max(best, 2 * side ** 3
                           / (time.perf_counter() - start))
        return best

    def report_losses(self):
        put_losses(self.losses)

    def report_times(self):
        """Returns the mean time of a batch and its FLOP/s."""
        self.memory = self.memory_peak()
        put("memory_peak", self.memory)
        put("python", sys.executable)
        put("start_s", self.start_s)
        put("threads", self.threads)
        put("params", self.spec["params"])
        put("item", self.spec["item"])
        put("items", self.samples * self.items)
        samples = self.samples / len(self.times)
        put("batch", round(samples))
        put("replicas", 1)
        mean_ms = put_times(self.times, samples * self.items)
        self.report_losses()
        flops = self.flops() * samples
        rate = flops / mean_ms * 1e3
        put("flops", float(flops))
        put("flops_rate", rate)
        return mean_ms, rate

    def report(self):
        mean_ms, rate = self.report_times()
        peak = self.peak() if self.params["nn.peak"] else None
        if peak and peak < rate:
            warn("a product of matrices was slower than the network, so it is "
                 "no peak: there is no efficiency")
            peak = None
        if peak:
            put("peak_flops_rate", peak)
            put("efficiency", rate / peak)
        put("prony.main", ["throughput", "time"]
            + ["efficiency"] * bool(peak) + ["loss"] * self.training)
        put("verdict", self.verdict(mean_ms, rate, peak))

    def verdict(self, mean_ms, rate, peak):
        speed = self.samples * self.items / sum(self.times) * 1e3
        text = "%s %s %s %ss/s in %s (batch %.0f in %s): %s" % (
            self.spec["name"], "trains" if self.training else "infers",
            ("%.3g" if speed < 100 else "%.0f") % speed,
            self.spec["item"], self.title,
            self.samples / len(self.times),
            scaled(mean_ms * 1e3, "s", ("µ", "m", "")),
            scaled(rate, "FLOP/s"))
        if peak:
            text += ", %.0f %% of its product of matrices" % (
                100 * rate / peak)
        return text + "; " + scaled(self.memory, "B")

    def report_part(self):
        """Of one that ended early."""
        put("steps", len(self.losses))
        if not self.times:
            self.report_losses()
            return
        self.report_times()
        put("prony.main", ["throughput", "time"] + ["loss"] * self.training)

    def evaluate(self):
        warn("nn.evaluate: nothing is evaluated, noise cannot be learned")

    def save(self):
        from .tensors import save
        save(self.params["nn.save"], self.tensors())


def arguments(description):
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True, metavar="FILE",
                        help="the network, as `prony model` prints it")
    parser.add_argument("--params", metavar="FILE",
                        help="parameters, a map of names")
    parser.add_argument("words", nargs="*", metavar="NAME=VALUE",
                        help="parameters laid over")
    return parser.parse_args()


def main(make, description):
    """make: of parameters and the model, a Run."""
    args = arguments(description)
    run = make(read(args.params, args.words), read_json(args.model))
    put_exp("framework_title", run.title)
    put_exp("framework_ver", run.version())
    put_exp("model_title", run.spec["title"])
    signal.signal(signal.SIGTERM, Stop.on_signal)
    signal.signal(signal.SIGINT, Stop.on_signal)
    progress = Progress(args.params and os.path.dirname(
        os.path.abspath(args.params)))
    try:
        try:
            run.measure(progress)
        except (Refusal, Stop):  # what was measured until then is reported
            run.report_part()
            raise
        run.report()
        if run.params["nn.evaluate"]:
            run.evaluate()
        if run.params["nn.save"]:
            run.save()
    except Stop as e:
        raise stopped() from e
    finally:
        progress.end()
