"""The network of model.json (prony.model/2) as a torch.nn.Module, and the
parts of it that are computed turn by turn in training."""

import math

import torch
from torch import nn

from ..results import BAD_FILE, Refusal
from .torch_loss import Loss
from .torch_ops import (LEARNING, OPS, Add, AdditiveAttention, BatchNorm,
                        Norm, tensor_names)

__all__ = ["BatchNorm", "Net", "Norm", "Part"]

# Their backward does not look at what they gave, which is memory of its own:
# it may be overwritten.
FORGETS_OUTPUT = ("conv", "transposed_conv", "linear", "embedding",
                  "batch_norm", "layer_norm", "gather", "pixel_shuffle",
                  "upsample", "reflect_pad", "add", "multiply", "concat",
                  "scale")


class Part:
    """Layers that are computed together, and losses. Called with the values of
    the layers `takes`, it returns those of `gives`, which others need, and the
    losses. Inside, a value is let go after its last use."""

    def __init__(self, net, numbers, losses=()):
        self.losses = list(losses)
        scored = {n for loss in self.losses for n in loss.takes}
        mine = set(numbers)
        self.takes = sorted({n for i in numbers for n in net.inputs[i]}
                            .union(scored) - mine)
        self.gives = sorted(mine & net.taken_by_others(mine, self.losses))
        last = {n: i for i in numbers for n in net.inputs[i]}
        keep = scored.union(self.gives)
        self.rows = [(i, net.ops[i], net.inputs[i], net.cuts(i),
                      [n for n in set(net.inputs[i])
                       if last[n] == i and n not in keep]) for i in numbers]

    def __call__(self, *taken):
        values = dict(zip(self.takes, taken))
        del taken
        for i, op, inputs, cuts, done_with in self.rows:
            values[i] = op(*[values[n].detach() if n in cuts else values[n]
                             for n in inputs])
            for n in done_with:
                del values[n]
        return ([values[n] for n in self.gives],
                [loss(values) for loss in self.losses])


class Net(nn.Module):
    """All layers. As people write networks by hand, ReLUs and sums overwrite
    what nobody else needs. sparse: embeddings that ask for it have sparse
    gradients."""

    def __init__(self, spec, dropout=True, in_place=True, sparse=False):
        super().__init__()
        if spec.get("schema") != "prony.model/2":
            raise Refusal(BAD_FILE, "the model is not of the form prony.model/2")
        self.layers = spec["layers"]
        self.names = [l["name"] for l in self.layers]
        self.number = {name: i for i, name in enumerate(self.names)}
        self.inputs = [[self.number[n] for n in l["inputs"]]
                       for l in self.layers]
        self.feeds = {i["name"]: i for i in spec["inputs"]}
        self.output = self.number[spec["output"]]
        self.turn_count = spec.get("turns", 1)
        self.losses = [Loss(l, self) for l in spec["losses"]]
        self.dropout, self.in_place, self.sparse = dropout, in_place, sparse
        self.like = {i: self.number[l["like"]]
                     for i, l in enumerate(self.layers)
                     if l.get("like", l["name"]) != l["name"]}
        self.ops = nn.ModuleList(map(self._op, range(len(self.layers))))
        self.owners = [next((m for m in op.modules()
                             if isinstance(m, LEARNING)), None)
                       for op in self.ops]
        self._share()
        self._freeze()
        self.learned_in = self._learned_in()
        self.whole = Part(self, self.before([self.output]))
        self.wanted = [n for n in self.feeds
                       if self.number[n] in self.whole.takes]

    # ---------------------------------------------------------------- build

    def _users(self, n):
        """How often a value is taken, by layers, losses and the caller."""
        return (sum(inputs.count(n) for inputs in self.inputs)
                + sum(loss.takes.count(n) for loss in self.losses)
                + (n == self.output))

    def _may_overwrite(self, i):
        """Whether the first input of a layer is needed by nobody else."""
        first = self.inputs[i][0]
        return (self.in_place and self.layers[first]["op"] in FORGETS_OUTPUT
                and self._is_new(first) and self._users(first) == 1)

    def _is_new(self, i):
        """Whether a layer's output is memory of its own, and no view."""
        op = self.layers[i]["op"]
        if op in ("linear", "batch_norm"):
            return len(self.layers[i]["shape"]) != 2
        return len(self.inputs[i]) > 1 or op not in ("add", "multiply",
                                                     "concat")

    def _op(self, i):
        layer = self.layers[i]
        op = layer["op"]
        if op == "input":
            return nn.Identity()
        if op == "relu":
            return nn.ReLU(inplace=self._may_overwrite(i))
        if op == "leaky_relu":
            return nn.LeakyReLU(layer["factor"], self._may_overwrite(i))
        if op == "add":
            return Add(into=self._may_overwrite(i))
        if op == "dropout" and not self.dropout:
            return nn.Identity()
        if op not in OPS:
            raise Refusal(BAD_FILE, "layer '%s': unknown op '%s'"
                          % (layer["name"], op))
        if op == "embedding":
            layer = dict(layer, sparse=self._is_sparse(i))
        return OPS[op](layer, self.layers[self.inputs[i][0]]["shape"])

    def _is_sparse(self, i):
        return (self.sparse and bool(self.layers[i].get("sparse"))
                and i not in self.like and i not in self.like.values())

    def _share(self):
        """Layers like others have their tensors."""
        for i, owner in self.like.items():
            mine, theirs = self.owners[i], self.owners[owner]
            if mine is None:
                continue
            for name in set(tensor_names(mine).values()):
                setattr(mine, name, getattr(theirs, name))

    def _apply(self, *args, **how):  # .to() makes buffers anew
        super()._apply(*args, **how)
        self._share()
        return self

    def _freeze(self):
        for i, layer in enumerate(self.layers):
            if i not in self.like and layer.get("learns", 0) is None:
                for p in self.ops[i].parameters():
                    p.requires_grad_(False)

    # ---------------------------------------------------------------- turns

    def before(self, numbers):
        """These layers and all that they depend on, in order."""
        found, stack = set(), list(numbers)
        while stack:
            n = stack.pop()
            if n not in found:
                found.add(n)
                stack += self.inputs[n]
        return [n for n in sorted(found) if self.layers[n]["op"] != "input"]

    def _learned_in(self):
        """For each layer the turns that send a gradient through it: something
        before it learns then, and a loss of then depends on it."""
        reached = [set(self.before([n for loss in self.losses
                                    if loss.turn == t for n in loss.of]))
                   for t in range(self.turn_count)]
        learned, found = [], []
        for i, owner in enumerate(self.owners):
            turns = set().union(*(learned[n] for n in self.inputs[i]))
            if owner is not None:
                turns |= {self.layers[i].get("learns", 0)} - {None}
            learned.append(turns)
            found.append({t for t in turns if i in reached[t]})
        return found

    def cuts(self, i):
        """Inputs of a layer that it sends no gradient to, though they may have
        one in another turn."""
        return [n for n in set(self.inputs[i])
                if self.learned_in[n]
                and self.learned_in[n].isdisjoint(self.learned_in[i])]

    def taken_by_others(self, numbers, losses):
        """Values that are needed outside of these layers and losses."""
        found = {self.output}
        for i, inputs in enumerate(self.inputs):
            if i not in numbers:
                found.update(inputs)
        return found.union(*(loss.takes for loss in self.losses
                             if loss not in losses))

    def turn_params(self, turn):
        """What is updated in a turn."""
        return [p for i, layer in enumerate(self.layers)
                if i not in self.like and layer.get("learns", 0) == turn
                for p in self.ops[i].parameters()]

    # -------------------------------------------------------------- forward

    def forward(self, *given):
        """The output, of the inputs it needs (`wanted`) or a map of them."""
        batch = (given[0] if isinstance(given[0], dict)
                 else dict(zip(self.wanted, given)))
        given, _ = self.whole(*[batch[self.names[n]]
                                for n in self.whole.takes])
        return given[self.whole.gives.index(self.output)]

    # ------------------------------------------------------------- tensors

    def tensors(self):
        """Name to tensor, as prony names them: LAYER.weight and so on."""
        return {"%s.%s" % (self.names[i], suffix): getattr(owner, attribute)
                for i, owner in enumerate(self.owners)
                if owner is not None and i not in self.like
                for suffix, attribute in tensor_names(owner).items()}

    def reset(self, generator):
        """Initial weights distributed as native's: uniform, of He's deviation;
        recurrent ones and those of additive attention as torch does it; biases
        0, norms 1 and 0."""
        with torch.no_grad():
            for owner in self.owners:
                if owner is None or isinstance(owner, Norm):
                    continue
                for p in owner.parameters(recurse=False):
                    self._draw(owner, p, generator)

    @staticmethod
    def _draw(owner, p, generator):
        if isinstance(owner, nn.RNNBase):
            bound = owner.hidden_size ** -.5
        elif isinstance(owner, AdditiveAttention):
            bound = p.numel() ** -.5
        elif p.dim() > 1:
            bound = math.sqrt(6 / p[0].numel())
        else:
            bound = 0
        p.uniform_(-bound, bound, generator=generator)

    def set_tensors(self, arrays):
        """From arrays by name; returns how many were there."""
        mine, found = self.tensors(), 0
        with torch.no_grad():
            for name, t in mine.items():
                if name not in arrays:
                    continue
                new = torch.from_numpy(arrays[name].copy())
                if new.shape != t.shape:
                    raise Refusal(BAD_FILE, "tensor '%s' is %s, the model has "
                                  "%s" % (name, list(new.shape),
                                          list(t.shape)))
                t.copy_(new)
                found += 1
        return found

    def layer_flops(self, training):
        """Of one sample, by layer: forward, and the gradients needed. The
        products of attention have two factors to go back to."""
        if not training:
            mine = set(self.before([self.output]))
            return [l["flops"] * (i in mine)
                    for i, l in enumerate(self.layers)]
        flops = []
        for i, (layer, owner) in enumerate(zip(self.layers, self.owners)):
            times = 1
            for turn in self.learned_in[i]:
                before = any(turn in self.learned_in[n]
                             for n in self.inputs[i])
                times += before * (1 + (layer["op"] == "attention")) + (
                    owner is not None and layer.get("learns", 0) == turn)
            flops.append(layer["flops"] * times)
        return flops
