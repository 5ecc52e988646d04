#!/usr/bin/env python3
"""Training and inference in PyTorch, for `prony run -P exp.framework=pytorch`.

Usage: pytorch.py --model model.json [--params params.json] [NAME=VALUE …]

The model is what `prony model NAME --format json` prints; parameters have
prony's names (exp.replica_batch, nn.threads …), those not given their
defaults. Results are lines `__results.NAME__= JSON` on stdout.
"""

import argparse
import contextlib
import math
import os
import signal
import sys
import time

if __package__ in (None, ""):  # started as a file, not as a module
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    __package__ = "prony.backends"  # noqa: A001
    import prony.backends  # noqa: F401

from ..params import read, read_json
from ..results import (BAD_FILE, BAD_PARAMS, FAILED, UNAVAILABLE, Progress,
                       Refusal, guarded, put, put_exp, put_losses, put_times,
                       seconds_since_start, warn)

DTYPES = {"float": "float32", "float32": "float32", "float16": "float16",
          "bfloat16": "bfloat16"}
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


def check(params):
    """What can be said before the seconds that importing PyTorch takes."""
    if int(params["exp.replica_batch"]) < 1:
        raise Refusal(BAD_PARAMS, "exp.replica_batch must be at least 1")
    if params["exp.dtype"] not in DTYPES:
        raise Refusal(UNAVAILABLE, "exp.dtype=%s: the PyTorch back-end "
                      "has float32, float16 and bfloat16"
                      % params["exp.dtype"])
    for name in ("nn.learning_rate", "nn.momentum", "nn.weight_decay"):
        if params[name] < 0 and params[name] != -1:
            raise Refusal(BAD_PARAMS, "%s=%g: it must not be below 0; -1 "
                          "means what the model says" % (name, params[name]))


def import_torch():
    try:
        import torch
        return torch
    except ImportError as e:
        raise Refusal(
            UNAVAILABLE, "PyTorch cannot be imported by %s: %s; install it, "
            "set runtime.python or $PRONY_TORCH_PYTHON to a Python that has "
            "it, or run `make python-deps`" % (sys.executable, e)) from e


class Setting:
    """Device, types and optimiser, from the parameters."""

    def __init__(self, params, spec):
        check(params)
        self.params, self.spec = params, spec
        self.torch = import_torch()
        self.batch = int(params["exp.replica_batch"])
        self.training = params["exp.phase"] == "training"
        self.device = self._device(str(params["exp.gpus"]))
        self.dtype = getattr(self.torch, DTYPES[params["exp.dtype"]])
        self.threads = (int(params["nn.threads"])
                        or len(os.sched_getaffinity(0)))
        self.torch.set_num_threads(self.threads)
        with contextlib.suppress(RuntimeError):  # only before the first use
            self.torch.set_num_interop_threads(1)

    def _device(self, gpus):
        if not gpus.strip():
            return self.torch.device("cpu")
        if not gpus.strip().isdigit():
            raise Refusal(UNAVAILABLE, "exp.gpus=%s: the PyTorch back-end "
                          "uses one GPU" % gpus)
        if not self.torch.cuda.is_available():
            raise Refusal(UNAVAILABLE, "exp.gpus=%s, but PyTorch %s sees no "
                          "GPU here; -P exp.gpus='\"\"' uses the processor"
                          % (gpus, self.torch.__version__))
        if int(gpus) >= self.torch.cuda.device_count():
            raise Refusal(UNAVAILABLE, "exp.gpus=%s, but there are %d GPUs"
                          % (gpus, self.torch.cuda.device_count()))
        return self.torch.device("cuda", int(gpus))

    @property
    def on_gpu(self):
        return self.device.type == "cuda"

    def synchronize(self):
        if self.on_gpu:
            self.torch.cuda.synchronize(self.device)

    def autocast(self):
        """How one batch is computed with nn.amp."""
        if not self.params["nn.amp"]:
            return contextlib.nullcontext()
        kind = self.torch.float16 if self.on_gpu else self.torch.bfloat16
        return self.torch.autocast(self.device.type, dtype=kind)

    def scaler(self):
        """Gradients in float16 vanish unless they are scaled."""
        if not (self.params["nn.amp"] and self.on_gpu and self.training):
            return None
        amp = self.torch.amp if hasattr(self.torch.amp, "GradScaler") \
            else self.torch.cuda.amp
        return amp.GradScaler()

    def optimizer(self, parameters):
        """As nn.* say, else the model. For one that is not the model's own,
        PyTorch's defaults."""
        said, kind = dict(self.spec["optimizer"]), self.params["nn.optimizer"]
        if kind and kind != said["name"]:
            said.update(learning_rate=1e-3, momentum=0, beta1=.9, beta2=.999,
                        epsilon=1e-8, name=kind)
        for name in ("learning_rate", "momentum", "weight_decay"):
            if self.params["nn." + name] >= 0:
                said[name] = self.params["nn." + name]
        common = {"lr": said["learning_rate"],
                  "weight_decay": said["weight_decay"]}
        if said["name"] == "adam":
            return self.torch.optim.Adam(
                parameters, betas=(said["beta1"], said["beta2"]),
                eps=said["epsilon"], **common)
        return self.torch.optim.SGD(parameters, momentum=said["momentum"],
                                    **common)

    def memory_peak(self):
        if self.on_gpu:
            return self.torch.cuda.max_memory_allocated(self.device)
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def to_device(self, x, labels):
        x = x.to(self.device, self.dtype)
        if self.params["nn.channels_last"] and x.dim() == 4:
            x = x.contiguous(memory_format=self.torch.channels_last)
        return x, labels.to(self.device)


class Profile:
    """Seconds that layers take, by hooks. A layer's backward lasts until that
    of another one begins."""

    def __init__(self, net, setting):
        self.net, self.synchronize = net, setting.synchronize
        self.forward = [0.0] * len(net.ops)
        self.backward = [0.0] * len(net.ops)
        self.update = 0.0
        self.running, self.began = None, 0.0
        for i, op in enumerate(net.ops):
            if i:
                op.register_forward_pre_hook(self._before)
                op.register_forward_hook(
                    lambda op, _, out, i=i: self._after(i, out))

    def forget(self):
        n = len(self.net.ops)
        self.forward, self.backward, self.update = [0.0] * n, [0.0] * n, 0.0

    def _before(self, _op, _inputs):
        self.synchronize()
        self.began = time.perf_counter()

    def _after(self, i, out):
        self.synchronize()
        self.forward[i] += time.perf_counter() - self.began
        if out.requires_grad:
            out.register_hook(lambda _grad: self.enter(i))

    def enter(self, i):
        """The backward of a layer begins; None: all have ended."""
        self.synchronize()
        now = time.perf_counter()
        if self.running is not None:
            self.backward[self.running] += now - self.began
        self.running, self.began = i, now

    def rows(self, steps, batch, optimizer):
        """As the native engine has them; the update of all layers is one."""
        rows = [{"layer": layer["name"], "op": layer["op"],
                 "forward_ms": self.forward[i] / steps * 1e3,
                 "backward_ms": self.backward[i] / steps * 1e3,
                 "update_ms": 0.0} for i, layer in enumerate(self.net.layers)]
        if optimizer:
            rows.append({"layer": "update",
                         "op": type(optimizer).__name__.lower(),
                         "forward_ms": 0.0, "backward_ms": 0.0,
                         "update_ms": self.update / steps * 1e3})
        whole = sum(r["forward_ms"] + r["backward_ms"] + r["update_ms"]
                    for r in rows)
        for row in rows:
            row["time_share"] = (row["forward_ms"] + row["backward_ms"]
                                 + row["update_ms"]) / whole
        for row, flops in zip(rows, self.net.layer_flops(optimizer)):
            if flops:
                row["gflop_per_s"] = flops * batch / 1e6 / (
                    row["forward_ms"] + row["backward_ms"])
        return rows[1:]  # the input does nothing


class Run:
    """A network, its batches and its optimiser."""

    def __init__(self, setting):
        from . import torch_data
        from .torch_net import Net
        self.setting, self.params = setting, setting.params
        self.torch, self.spec = setting.torch, setting.spec
        generator = self.torch.Generator().manual_seed(
            int(self.params["nn.seed"]))
        self.torch.manual_seed(int(self.params["nn.seed"]))
        self.net = Net(self.spec, dropout=self.params["nn.dropout"],
                       in_place=not self.params["nn.profile"])
        self.net.reset(generator)
        self.data = self._data(torch_data, generator)
        self._place()
        self.losses, self.times = [], []
        self.scaler = setting.scaler()
        self.optimizer = setting.optimizer(self.net.parameters()) \
            if setting.training else None
        self.profile = Profile(self.net, setting) \
            if self.params["nn.profile"] else None
        self.call = self._compiled() if self.params["nn.compile"] else self.net

    def _load(self):
        """Weights of nn.load; returns all tensors of the file."""
        from ..tensors import load
        path = self.params["nn.load"]
        if not path:
            return {}
        arrays = load(path)
        mine = self.net.tensors()
        found = self.net.set_tensors(arrays)
        if not found and "input" not in arrays:
            raise Refusal(BAD_FILE, "%s: it has no tensor of '%s'"
                          % (path, self.spec["name"]))
        if 0 < found < len(mine):
            warn("nn.load: %d of the model's %d tensors are in the file, the "
                 "others start at random" % (found, len(mine)))
        return arrays

    def _data(self, torch_data, generator):
        p, spec = self.params, self.spec
        shape = [self.setting.batch] + spec["input"]
        arrays = self._load()
        if "input" in arrays and ("labels" in arrays
                                  or not self.setting.training):
            batch = torch_data.from_arrays(arrays, shape, spec["classes"])
        elif torch_data.is_real(p):
            return torch_data.Loader(p, spec, shape[0], "train",
                                     self.setting.threads)
        elif p["nn.data"] != "noise":
            raise Refusal(UNAVAILABLE, "nn.data=%s: the PyTorch back-end has "
                          "noise and images" % p["nn.data"])
        else:
            batch = torch_data.noise(shape, spec["classes"], generator)
        return torch_data.Fixed(*self.setting.to_device(*batch))

    def _place(self):
        self.net.to(self.setting.device, self.setting.dtype)
        if self.params["nn.channels_last"]:
            self.net.to(memory_format=self.torch.channels_last)
        self.net.train(self.setting.training)

    def _compiled(self):
        if not hasattr(self.torch, "compile"):
            raise Refusal(UNAVAILABLE, "nn.compile needs PyTorch 2, this is %s"
                          % self.torch.__version__)
        return self.torch.compile(self.net)

    # --------------------------------------------------------------- steps

    def _loss(self, output, labels):
        return self.torch.nn.functional.cross_entropy(output.float(), labels)

    def _update(self, loss):
        (self.scaler.scale(loss) if self.scaler else loss).backward()
        if self.profile:
            self.profile.enter(None)
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        if self.profile:
            self.setting.synchronize()
            self.profile.update += time.perf_counter() - self.profile.began

    def train(self, x, labels):
        self.optimizer.zero_grad(set_to_none=True)
        with self.setting.autocast():
            self.output = self.call(x)
            loss = self._loss(self.output, labels)
        self._update(loss)
        self.losses.append(float(loss.detach()))
        if not math.isfinite(self.losses[-1]):
            raise Refusal(FAILED, "the loss is no number (%s) in step %d; "
                          "try a smaller nn.learning_rate"
                          % (self.losses.pop(), len(self.losses) + 1))

    def infer(self, x, _labels):
        with self.torch.inference_mode(), self.setting.autocast():
            self.output = self.call(x)

    def step(self):
        """One batch; its milliseconds."""
        start = time.perf_counter()
        batch = self.data.next()
        if not self.data.is_placed:
            batch = self.setting.to_device(*batch)
        (self.train if self.setting.training else self.infer)(*batch)
        self.setting.synchronize()
        return (time.perf_counter() - start) * 1e3

    def measure(self, progress):
        """Batches to warm up, then those that count."""
        p = self.params
        count = int(p["exp.num_batches"])
        if p["nn.max_count"]:
            count = -(-int(p["nn.max_count"]) // self.setting.batch)
        if count < 1:
            raise Refusal(BAD_PARAMS, "no batch is measured; exp.num_batches "
                          "must be at least 1")
        self.start_s = seconds_since_start()
        for _ in range(int(p["exp.num_warmup_batches"])):
            progress.say("warming up", 0)
            self.step()
        if self.profile:
            self.profile.forget()
        self.data.wait_s = 0.0
        progress.since = time.monotonic()
        for i in range(count):
            progress.say("batch %d of %d" % (i + 1, count), i / count)
            self.times.append(self.step())

    # -------------------------------------------------------------- results

    def peak(self):
        """FLOP/s of a large product of matrices of this type, at best. Some
        processors have no float16: products grow while there is time."""
        with self.torch.inference_mode(), self.setting.autocast():
            self._product(PEAK_SIDES[0])()  # the first call prepares much
            best, until = 0.0, time.perf_counter() + PEAK_SECONDS
            for side in PEAK_SIDES:
                product = self._product(side)
                for _ in range(PEAK_CALLS):
                    start = time.perf_counter()
                    if best and start + 2 * side ** 3 / best > until:
                        return best
                    product()
                    best = max(best, 2 * side ** 3
                               / (time.perf_counter() - start))
        return best

    def _product(self, side):
        a = self.torch.randn(side, side).to(self.setting.device,
                                            self.setting.dtype)

        def product():
            a @ a
            self.setting.synchronize()
        return product

    def report_times(self):
        """Returns the mean time of a batch and its FLOP/s."""
        setting, spec = self.setting, self.spec
        self.memory = setting.memory_peak()
        put("memory_peak", self.memory)
        put("python", sys.executable)
        put("start_s", self.start_s)
        put("threads", setting.threads)
        put("params", spec["params"])
        put("item", spec["item"])
        put("items", setting.batch * len(self.times))
        mean_ms = put_times(self.times, setting.batch)
        put_losses(self.losses)
        if not self.data.is_placed:
            put("data_wait", self.data.wait_s / sum(self.times) * 1e3)
        flops = sum(self.net.layer_flops(setting.training)) * setting.batch
        rate = flops / mean_ms * 1e3
        put("flops", float(flops))
        put("flops_rate", rate)
        return mean_ms, rate

    def report(self):
        setting = self.setting
        mean_ms, rate = self.report_times()
        peak = self.peak() if self.params["nn.peak"] else None
        if peak and peak < rate:
            warn("a product of matrices was slower than the network, so it is "
                 "no peak: there is no efficiency")
            peak = None
        if peak:
            put("peak_flops_rate", peak)
            put("efficiency", rate / peak)
        if self.profile:
            put("layers", self.profile.rows(len(self.times), setting.batch,
                                            self.optimizer))
        put("prony.main", ["throughput", "time"]
            + ["efficiency"] * bool(peak) + ["loss"] * setting.training)
        put("verdict", self.verdict(mean_ms, rate, peak))

    def verdict(self, mean_ms, rate, peak):
        spec, setting = self.spec, self.setting
        text = "%s %s %.3g %ss/s in PyTorch (batch %d in %.3g ms): " \
            "%.3g GFLOP/s" % (
                spec["name"], "trains" if setting.training else "infers",
                setting.batch / mean_ms * 1e3, spec["item"], setting.batch,
                mean_ms, rate / 1e9)
        if peak:
            text += ", %.0f %% of its product of matrices" % (
                100 * rate / peak)
        return text + "; %.3g GB" % (self.memory / 1e9)

    def report_part(self):
        """Of one that ended early."""
        put("steps", len(self.losses))
        if not self.times:
            put_losses(self.losses)
            return
        self.report_times()
        put("prony.main", ["throughput", "time"]
            + ["loss"] * self.setting.training)

    def evaluate(self):
        """The share of images, not trained with, whose class is found."""
        from . import torch_data
        setting = self.setting
        if self.data.is_placed:
            warn("nn.evaluate: nothing is evaluated, noise cannot be learned")
            return
        data = torch_data.Loader(self.params, self.spec, setting.batch,
                                 "valid", setting.threads)
        right = seen = 0
        self.net.eval()
        while seen < int(self.params["nn.evaluate"]):
            x, labels = setting.to_device(*data.next())
            with self.torch.inference_mode(), setting.autocast():
                found = self.net(x).argmax(1)
            right += int((found == labels).sum())
            seen += setting.batch
        put("accuracy", right / seen)
        put("evaluated", seen)

    def save(self):
        from ..tensors import save
        tensors = dict(self.net.tensors())
        if self.params["nn.save_gradients"] and self.setting.training:
            tensors.update({"grad." + n: t.grad for n, t in
                            self.net.tensors().items() if t.grad is not None})
        tensors["output"] = self.output
        save(self.params["nn.save"],
             {n: t.detach().float().cpu().contiguous().numpy()
              for n, t in tensors.items()})


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True, metavar="FILE",
                        help="the network, prony.model/1")
    parser.add_argument("--params", metavar="FILE",
                        help="parameters, a map of names")
    parser.add_argument("words", nargs="*", metavar="NAME=VALUE",
                        help="parameters laid over")
    args = parser.parse_args()
    run = Run(Setting(read(args.params, args.words), read_json(args.model)))
    put_exp("framework_title", "PyTorch")
    put_exp("framework_ver", run.torch.__version__)
    put_exp("model_title", run.spec["title"])
    signal.signal(signal.SIGTERM, Stop.on_signal)
    signal.signal(signal.SIGINT, Stop.on_signal)
    progress = Progress(args.params and os.path.dirname(
        os.path.abspath(args.params)))
    try:
        measure(run, progress)
        run.report()
        if run.params["nn.evaluate"]:
            run.evaluate()
        if run.params["nn.save"]:
            run.save()
    except Stop as e:
        raise stopped() from e
    finally:
        progress.end()


def measure(run, progress):
    """Whatever ends it, what was measured until then is reported."""
    try:
        run.measure(progress)
    except (Refusal, Stop):
        run.report_part()
        raise
    except RuntimeError as e:
        run.report_part()
        if Stop.asked:  # processes that decode were asked as well
            raise stopped() from e
        if isinstance(e, run.torch.cuda.OutOfMemoryError):
            raise Refusal(FAILED, "out of memory: %s" % e) from e
        if "not implemented for" in str(e):
            raise Refusal(UNAVAILABLE, "this PyTorch cannot compute it: %s"
                          % e) from e
        raise


if __name__ == "__main__":
    sys.exit(guarded(main))
