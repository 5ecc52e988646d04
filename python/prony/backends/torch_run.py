"""What a run in PyTorch does: batches that are trained or inferred with, how
long they take, and what is reported."""

import math
import sys
import time

from ..program import (PEAK_CALLS, PEAK_SECONDS, PEAK_SIDES, is_real,
                       optimizer_of)
from ..results import (BAD_FILE, BAD_PARAMS, FAILED, UNAVAILABLE, Refusal,
                       put, put_losses, put_times, seconds_since_start, warn)


class Run:
    """A network, its batches and its optimisers."""

    def __init__(self, setting):
        from . import torch_turns
        from .torch_net import Net
        self.setting, self.params = setting, setting.params
        self.torch, self.spec = setting.torch, setting.spec
        generator = self.torch.Generator().manual_seed(
            int(self.params["nn.seed"]))
        self.torch.manual_seed(int(self.params["nn.seed"]))
        said = optimizer_of(self.spec, self.params)
        self.net = Net(self.spec, dropout=self.params["nn.dropout"],
                       in_place=not self.params["nn.profile"],
                       sparse=torch_turns.may_be_sparse(
                           said, self.params["nn.save_gradients"]))
        self.net.reset(generator)
        self.data = self._data(generator)
        self._place()
        self.losses, self.times, self.each_loss = [], [], []
        self.samples, self.items = 0, self.spec.get("items", 1)
        self.optimizer = said["name"] if setting.training else None
        self.trainer = self._trainer(torch_turns, said) \
            if setting.training else None
        self.profile = self._profile() if self.params["nn.profile"] else None
        compiler = None if setting.training else setting.compiler()
        self.call = compiler(self.net) if compiler else self.net

    def _trainer(self, torch_turns, said):
        return torch_turns.Trainer(
            self.net, said, self.setting.scaler(), self.setting.compiler(),
            self.setting.autocast)

    def _profile(self):
        from .torch_profile import Profile
        profile = Profile(self.net, self.setting)
        if self.trainer:
            self.trainer.on_backward = profile.on_backward
            self.trainer.on_update = profile.on_update
        return profile

    def _load(self, feeds):
        """Weights of nn.load; returns all tensors of the file."""
        from ..tensors import load
        path = self.params["nn.load"]
        if not path:
            return {}
        arrays = load(path)
        mine = self.net.tensors()
        found = self.net.set_tensors(arrays)
        if not found and not any(f["name"] in arrays for f in feeds):
            raise Refusal(BAD_FILE, "%s: it has no tensor of '%s'"
                          % (path, self.spec["name"]))
        if 0 < found < len(mine):
            warn("nn.load: %d of the model's %d tensors are in the file, the "
                 "others start at random" % (found, len(mine)))
        return arrays

    def _data(self, generator):
        from . import torch_data
        p, spec, batch = self.params, self.spec, self.setting.batch
        feeds = [f for n, f in self.net.feeds.items()
                 if self.setting.training or n in self.net.wanted]
        arrays = self._load(feeds)
        if all(f["name"] in arrays for f in feeds):
            found = [torch_data.from_arrays(feeds, arrays, batch)]
        elif p["nn.batches"]:
            from ..tensors import load
            found = torch_data.from_batches(
                feeds, load(p["nn.batches"]), batch, p["nn.batches"])
        elif is_real(p):
            return torch_data.Loader(p, spec, batch, "train",
                                     self.setting.threads)
        elif p["nn.data"] not in ("noise", ""):
            raise Refusal(UNAVAILABLE, "nn.data=%s: the PyTorch back-end has "
                          "noise and images" % p["nn.data"])
        else:
            found = [torch_data.noise(spec, batch, generator)]
        return torch_data.Cycle([self.setting.to_device(b) for b in found])

    def _place(self):
        self.net.to(self.setting.device, self.setting.dtype)
        if self.params["nn.channels_last"]:
            self.net.to(memory_format=self.torch.channels_last)
        self.net.train(self.setting.training)

    # --------------------------------------------------------------- steps

    def scored(self, loss):
        """One more loss of a step."""
        self.losses.append(loss)
        if not math.isfinite(loss):
            raise Refusal(FAILED, "the loss is no number (%s) in step %d; "
                          "try a smaller nn.learning_rate"
                          % (self.losses.pop(), len(self.losses) + 1))

    def train(self, batch):
        self.output, losses = self.trainer.step(batch)
        self.each_loss = list(map(float, losses))
        self.scored(sum(self.each_loss))

    def infer(self, batch):
        with self.torch.inference_mode(), self.setting.autocast():
            self.output = self.call(batch)

    def step(self):
        """One batch; its milliseconds."""
        start = time.perf_counter()
        batch = self.data.next()
        if not self.data.is_placed:
            batch = self.setting.to_device(batch)
        (self.train if self.setting.training else self.infer)(batch)
        self.setting.synchronize()
        self.samples += self.setting.batch
        return (time.perf_counter() - start) * 1e3

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
        if self.profile:
            self.profile.forget()
        self.data.wait_s, self.samples = 0.0, 0
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

    def report_losses(self):
        """Of every step, and the last of each of several."""
        put_losses(self.losses)
        if len(self.each_loss) > 1:
            for name, loss in zip(self.trainer.loss_names, self.each_loss):
                put("loss." + name, loss)

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
        put("items", self.samples * self.items)
        samples = self.samples / len(self.times)
        mean_ms = put_times(self.times, samples * self.items)
        self.report_losses()
        if not self.data.is_placed:
            put("data_wait", self.data.wait_s / sum(self.times) * 1e3)
        flops = sum(self.net.layer_flops(setting.training)) * samples
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
            put("layers", self.profile.rows(
                len(self.times), self.samples / len(self.times),
                self.optimizer))
        put("prony.main", ["throughput", "time"]
            + ["efficiency"] * bool(peak) + ["loss"] * setting.training)
        put("verdict", self.verdict(mean_ms, rate, peak))

    def verdict(self, mean_ms, rate, peak):
        spec, setting = self.spec, self.setting
        text = "%s %s %.3g %ss/s in PyTorch (batch %.0f in %.3g ms): " \
            "%.3g GFLOP/s" % (
                spec["name"], "trains" if setting.training else "infers",
                self.samples * self.items / sum(self.times) * 1e3,
                spec["item"], self.samples / len(self.times), mean_ms,
                rate / 1e9)
        if peak:
            text += ", %.0f %% of its product of matrices" % (
                100 * rate / peak)
        return text + "; %.3g GB" % (self.memory / 1e9)

    def report_part(self):
        """Of one that ended early."""
        put("steps", len(self.losses))
        if not self.times:
            self.report_losses()
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
            batch = setting.to_device(data.next())
            with self.torch.inference_mode(), setting.autocast():
                found = self.net(batch).argmax(1)
            right += int((found == batch["labels"].flatten()).sum())
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
