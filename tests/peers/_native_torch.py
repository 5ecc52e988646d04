"""The PyTorch side of native_vs_torch.py: weights and batches, and what a
network of the back-end computes with them."""
import numpy as np
import torch

from _native_run import BATCH, STEPS, THREADS, Wrong
from prony.backends import torch_data
from prony.backends.torch_net import BatchNorm, Net, Norm
from prony.backends.torch_turns import Trainer, may_be_sparse
from prony.tensors import load

SAME_CURVE = .02
RATE, MOMENTUM, DECAY = .01, .9, 1e-4
STATISTICS = (".mean", ".var")


def far(a, b):
    """Relative distance of two arrays."""
    a, b = np.asarray(a, "float64"), np.asarray(b, "float64")
    if a.shape != b.shape:
        raise Wrong("shapes %s and %s" % (a.shape, b.shape))
    return np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30)


def curves_differ(a, b):
    return max(abs(x - y) / max(abs(y), 1e-3) for x, y in zip(a, b))


# -------------------------------------------------------- weights and batches


def make_weights(spec, seed):
    """As an engine begins with, norms away from 1 and 0."""
    net = Net(spec, dropout=False)
    net.reset(torch.Generator().manual_seed(seed))
    rng = np.random.default_rng(seed)
    tensors = {n: t.detach().numpy().copy() for n, t in net.tensors().items()}
    owners = dict(zip(net.names, net.owners))
    for name, t in tensors.items():
        layer, _, kind = name.rpartition(".")
        if kind in ("bias", "recurrent_bias"):
            tensors[name] = .1 * rng.standard_normal(t.shape)
        elif kind == "weight" and isinstance(owners[layer], Norm):
            tensors[name] = 1 + .1 * rng.standard_normal(t.shape)
    return {n: t.astype("float32") for n, t in tensors.items()}


def make_batches(spec, path, seed):
    """Those of the model's own data, or one of noise."""
    if not path:
        noise = torch_data.noise(spec, BATCH,
                                 torch.Generator().manual_seed(seed))
        return [{n: t.numpy().astype("float32" if t.is_floating_point()
                                     else "int32")
                 for n, t in noise.items()}]
    arrays = load(path)
    return [{i["name"]: arrays["%s.%d" % (i["name"], k)].copy()
             for i in spec["inputs"]} for k in range(STEPS)]


# -------------------------------------------------------------- the network


def plain_sgd(spec):
    """Of which a step tells the gradient."""
    return dict(spec["optimizer"], name="sgd", learning_rate=RATE,
                momentum=MOMENTUM, weight_decay=DECAY)


class Torch:
    """The network in PyTorch, with weights and batches loaded."""

    def __init__(self, spec, weights, batches, dtype=torch.float32,
                 last=False, sparse=False, reverse=False):
        self.spec = spec
        self.net = Net(spec, dropout=False, sparse=sparse).to(dtype)
        self.net.set_tensors(weights)
        self.reverse = reverse
        self.batches = [self._place(b, dtype, last) for b in batches]
        if last:
            self.net.to(memory_format=torch.channels_last)

    def _place(self, batch, dtype, last):
        found = {}
        for name, feed in self.net.feeds.items():
            x = torch.from_numpy(batch[name])
            x = x.long() if feed["ids"] else x.to(dtype)
            if last and x.dim() == 4:
                x = x.contiguous(memory_format=torch.channels_last)
            found[name] = x.flip(0) if self.reverse else x
        return found

    def step(self):
        """Everything that one step computes."""
        self.net.train()
        trainer = Trainer(self.net, plain_sgd(self.spec))
        output, losses = trainer.step(self.batches[0])
        found = {"loss": sum(losses),
                 "output": output.flip(0) if self.reverse else output}
        if len(losses) > 1:
            found.update(("loss." + name, loss) for name, loss
                         in zip(trainer.loss_names, losses))
        for name, t in self.net.tensors().items():
            if t.grad is not None:
                found["grad." + name] = t.grad
            if name.endswith(STATISTICS):
                found[name] = t
        return {n: t.detach().double().numpy() for n, t in found.items()}

    def infer(self, times=1):
        """The output; of the last of several batches that are the same."""
        self.net.eval()
        with torch.inference_mode():
            for _ in range(times):
                found = self.net(self.batches[0])
        return found.double().numpy()

    def losses(self, said, steps=STEPS):
        """Of some steps with an optimiser."""
        self.net.train()
        trainer = Trainer(self.net, said)
        return [sum(map(float, trainer.step(
            self.batches[i % len(self.batches)])[1])) for i in range(steps)]

    def tensors(self):
        return {n: t.detach().double().numpy()
                for n, t in self.net.tensors().items()}


def add_distances(found, want, furthest):
    """Keeps the largest distance from float64."""
    for name, t in found.items():
        furthest[name] = max(np.linalg.norm(t - want[name]),
                             furthest.get(name, 0))


def torch_distances(spec, weights, batches, want):
    """(What PyTorch computes in float32, how far each is from float64: the
    largest over some orders of summing.)"""
    first, furthest = None, {}
    for last, reverse, threads in ((False, False, THREADS),
                                   (True, False, THREADS),
                                   (False, True, THREADS),
                                   (False, False, 1)):
        torch.set_num_threads(threads)
        found = Torch(spec, weights, batches[:1], last=last,
                      reverse=reverse).step()
        first = first or found
        add_distances(found, want, furthest)
    torch.set_num_threads(THREADS)
    return first, furthest


def moved(weights, seed):
    """By what float32 rounds: where a ReLU is within that of 0, gradients
    jump."""
    rng = np.random.default_rng(seed)
    return {n: (w * (1 + 6e-8 * rng.standard_normal(w.shape)))
            .astype("float32") for n, w in weights.items()}


def with_statistics(spec, weights, batches, rng):
    """Running means and variances near those of the batch: what a trained
    network has."""
    mine = Torch(spec, weights, batches[:1])
    for owner in mine.net.owners:
        if isinstance(owner, BatchNorm):
            owner.momentum = 1.0
    mine.net.train()
    with torch.no_grad():
        mine.net(mine.batches[0])
    found = dict(weights)
    for name, t in mine.tensors().items():
        if name.endswith(STATISTICS):
            noise = rng.uniform(.8, 1.25, t.shape)
            found[name] = (t * noise).astype("float32")
    return found


# ----------------------------------------------------------- learning rates


def first_rate(spec, weights, batches, kind):
    """With which a first step of SGD takes away about 2 % of the loss. Random
    networks have gradients of any size: one rate for all does not do."""
    if kind == "adam":
        return 1e-3
    found = Torch(spec, weights, batches).step()
    square = sum(np.sum(g ** 2) for n, g in found.items()
                 if n.startswith("grad."))
    return float("%.0e" % (.02 * abs(found["loss"]) / square))


def agrees(spec, weights, batches, said):
    """Losses of PyTorch, or None if others when the batch is reversed: no two
    programs would agree then."""
    sparse = may_be_sparse(said)
    losses, other = (Torch(spec, weights, batches, sparse=sparse,
                           reverse=reverse).losses(said)
                     for reverse in (False, True))
    return losses if curves_differ(losses, other) <= SAME_CURVE / 4 else None


def smooth_losses(spec, weights, batches, said):
    """(Options with the first learning rate at which PyTorch agrees with
    itself, losses.)"""
    for _ in range(4):
        losses = agrees(spec, weights, batches, said)
        if losses:
            return said, losses
        said = dict(said, learning_rate=said["learning_rate"] / 10)
    raise Wrong("%s: PyTorch's own losses differ" % said["name"])


def own_losses(spec, weights, batches):
    """(The model's own options, the learning rate ten times as large until
    something is learned in a few steps and smaller where that is too much,
    losses, how much they changed.)"""
    said = dict(spec["optimizer"])
    still = Torch(spec, weights, batches).losses(
        dict(said, learning_rate=1e-30))
    for _ in range(4):
        said, losses = smooth_losses(spec, weights, batches, said)
        learned = curves_differ(losses, still)
        if learned >= .01:
            return said, losses, learned
        said = dict(said, learning_rate=said["learning_rate"] * 10)
    raise Wrong("%s: nothing is learned" % said["name"])
