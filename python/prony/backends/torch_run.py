"""What a run in PyTorch does that those in other frameworks do not: a device,
data sets, several losses, times of layers."""

from .. import program
from ..results import BAD_FILE, FAILED, UNAVAILABLE, Refusal, put, warn
from .torch_setting import DTYPES, Setting


class Run(program.Run):
    """A network, its batches and its optimisers."""

    title, dtypes, lacks, reads_data = "PyTorch", DTYPES, {}, True

    def prepare(self):
        self.setting = Setting(self.params, self.training, self.threads)
        self.torch = self.setting.torch
        from . import torch_turns
        from .torch_net import Net
        generator = self.torch.Generator().manual_seed(
            int(self.params["nn.seed"]))
        self.torch.manual_seed(int(self.params["nn.seed"]))
        said = program.optimizer_of(self.spec, self.params)
        self.net = Net(self.spec, dropout=self.params["nn.dropout"],
                       in_place=not self.params["nn.profile"],
                       sparse=torch_turns.may_be_sparse(
                           said, self.params["nn.save_gradients"]))
        self.net.reset(generator)
        self.data, self.each_loss = self._data(generator), []
        self._place()
        self.optimizer = said["name"] if self.training else None
        self.trainer = self._trainer(torch_turns, said) \
            if self.training else None
        self.profile = self._profile() if self.params["nn.profile"] else None
        compiler = None if self.training else self.setting.compiler()
        self.call = compiler(self.net) if compiler else self.net

    def version(self):
        return self.torch.__version__

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
        p, spec, batch = self.params, self.spec, self.batch
        feeds = [f for n, f in self.net.feeds.items()
                 if self.training or n in self.net.wanted]
        arrays = self._load(feeds)
        if all(f["name"] in arrays for f in feeds):
            found = [torch_data.from_arrays(feeds, arrays, batch)]
        elif p["nn.batches"]:
            from ..tensors import load
            found = torch_data.from_batches(
                feeds, load(p["nn.batches"]), batch, p["nn.batches"])
        elif program.is_real(p):
            return torch_data.Loader(p, spec, batch, "train", self.threads)
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
        self.net.train(self.training)

    # --------------------------------------------------------------- steps

    def next_batch(self):
        batch = self.data.next()
        return batch if self.data.is_placed else self.setting.to_device(batch)

    def train(self, batch):
        self.output, losses = self.trainer.step(batch)
        self.each_loss = list(map(float, losses))
        return sum(self.each_loss)

    def infer(self, batch):
        with self.torch.inference_mode(), self.setting.autocast():
            self.output = self.call(batch)

    def compute(self, batch):
        loss = (self.train if self.training else self.infer)(batch)
        self.setting.synchronize()
        return loss

    def warmed_up(self):
        super().warmed_up()
        self.data.wait_s = 0.0
        if self.profile:
            self.profile.forget()

    def measure(self, progress):
        try:
            super().measure(progress)
        except RuntimeError as e:
            if program.Stop.asked:  # processes that decode were asked as well
                raise program.Stop from e
            if isinstance(e, self.torch.cuda.OutOfMemoryError):
                raise Refusal(FAILED, "out of memory: %s" % e) from e
            # a kind of its own; of older ones only the words tell
            if isinstance(e, NotImplementedError) \
                    or "not implemented for" in str(e):
                raise Refusal(UNAVAILABLE, "this PyTorch cannot compute it: %s"
                              % e) from e
            self.report_part()
            raise

    # -------------------------------------------------------------- results

    def flops(self):
        return sum(self.net.layer_flops(self.training))

    def memory_peak(self):
        return self.setting.memory_peak() if self.setting.on_gpu \
            else super().memory_peak()

    def peak(self):
        with self.torch.inference_mode(), self.setting.autocast():
            return super().peak()

    def product(self, side):
        a = self.torch.randn(side, side).to(self.setting.device,
                                            self.setting.dtype)

        def product():
            a @ a
            self.setting.synchronize()
        return product

    def report_losses(self):
        """Of every step, and the last of each of several."""
        super().report_losses()
        if len(self.each_loss) > 1:
            for name, loss in zip(self.trainer.loss_names, self.each_loss):
                put("loss." + name, loss)

    def report_times(self):
        found = super().report_times()
        if not self.data.is_placed:
            put("data_wait", self.data.wait_s / sum(self.times) * 1e3)
        return found

    def report(self):
        if self.profile:
            put("layers", self.profile.rows(
                len(self.times), self.samples / len(self.times),
                self.optimizer))
        super().report()

    def evaluate(self):
        """The share of images, not trained with, whose class is found."""
        from . import torch_data
        if self.data.is_placed:
            super().evaluate()
            return
        data = torch_data.Loader(self.params, self.spec, self.batch, "valid",
                                 self.threads)
        right = seen = 0
        self.net.eval()
        while seen < int(self.params["nn.evaluate"]):
            batch = self.setting.to_device(data.next())
            with self.torch.inference_mode(), self.setting.autocast():
                found = self.net(batch).argmax(1)
            right += int((found == batch["labels"].flatten()).sum())
            seen += self.batch
        put("accuracy", right / seen)
        put("evaluated", seen)

    def tensors(self):
        found = dict(self.net.tensors())
        if self.params["nn.save_gradients"] and self.training:
            found.update({"grad." + n: t.grad for n, t in
                          self.net.tensors().items() if t.grad is not None})
        found["output"] = self.output
        return {n: t.detach().float().cpu().contiguous().numpy()
                for n, t in found.items()}
