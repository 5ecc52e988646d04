"""The network of model.json (prony.model/1) as a torch.nn.Module."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from ..results import BAD_FILE, Refusal


class Pad(nn.Module):
    """Where one side has more than the other: [top, left, bottom, right]."""

    def __init__(self, pad, value=0.0):
        super().__init__()
        top, left, bottom, right = pad
        self.pad, self.value = (left, right, top, bottom), value

    def forward(self, x):
        return F.pad(x, self.pad, value=self.value)


class AveragePool(nn.Module):
    """Over what is no padding, where sides differ."""

    def __init__(self, layer, shape):
        super().__init__()
        self.pad = Pad(layer["pad"])
        self.pool = nn.AvgPool2d(layer["kernel"], layer["stride"])
        with torch.no_grad():
            share = self.pool(self.pad(torch.ones(1, 1, *shape[1:])))
        self.register_buffer("share", share, persistent=False)

    def forward(self, x):
        return self.pool(self.pad(x)) / self.share


class BatchNorm(nn.Module):
    """Of images or features; without a scale gamma stays 1."""

    def __init__(self, layer, channels):
        super().__init__()
        self.epsilon, self.momentum = layer["epsilon"], layer["momentum"]
        one = torch.ones(channels)
        if layer["scale"]:
            self.weight = nn.Parameter(one)
        else:
            self.register_buffer("weight", one, persistent=False)
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("var", torch.ones(channels))

    def forward(self, x):
        return F.batch_norm(x, self.mean, self.var, self.weight, self.bias,
                            self.training, self.momentum, self.epsilon)


class GlobalPool(nn.Module):
    def forward(self, x):
        return torch.flatten(F.adaptive_avg_pool2d(x, 1), 1)


class Scale(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


class Concat(nn.Module):
    def forward(self, *parts):
        return torch.cat(parts, 1)


class Add(nn.Module):
    """The first part may be overwritten when `into` is true."""

    def __init__(self, into):
        super().__init__()
        self.into = into

    def forward(self, first, *rest):
        for part in rest:
            first = first.add_(part) if self.into else first + part
        return first


# ------------------------------------------------------------------- layers


def _is_even(pad):
    return pad[0] == pad[2] and pad[1] == pad[3]


def _conv(layer, shape):
    even = _is_even(layer["pad"])
    conv = nn.Conv2d(shape[0], layer["out"], layer["kernel"], layer["stride"],
                     layer["pad"][:2] if even else 0, layer["dilation"],
                     layer["groups"], layer["bias"])
    return conv if even else nn.Sequential(Pad(layer["pad"]), conv)


def _linear(layer, shape):
    linear = nn.Linear(math.prod(shape), layer["out"], layer["bias"])
    return linear if len(shape) == 1 else nn.Sequential(nn.Flatten(), linear)


def _windows(size, kernel, stride, pad, ceil):
    """How many torch's own pools have along one side."""
    room = size + 2 * pad - kernel
    if not ceil:
        return room // stride + 1
    out = -(-room // stride) + 1
    return out - ((out - 1) * stride >= size + pad)


def _own_padding(layer, shape, ceils):
    """(padding, ceil_mode) with which torch's own pool has the same windows;
    None: it cannot. Where they begin follows from top and left alone."""
    pad = layer["pad"][:2]
    if any(2 * p > k for p, k in zip(pad, layer["kernel"])):
        return None
    for ceil in ceils:
        found = [_windows(n, k, s, p, ceil) for n, k, s, p in zip(
            shape[1:], layer["kernel"], layer["stride"], pad)]
        if found == layer["shape"][1:]:
            return pad, ceil
    return None


def _max_pool(layer, shape):
    how = _own_padding(layer, shape, (False, True))
    if how:
        return nn.MaxPool2d(layer["kernel"], layer["stride"], how[0],
                            ceil_mode=how[1])
    return nn.Sequential(Pad(layer["pad"], float("-inf")),
                         nn.MaxPool2d(layer["kernel"], layer["stride"]))


def _average_pool(layer, shape):
    count = layer["count_pad"]
    # What rounding up adds counts here and does not there.
    how = _own_padding(layer, shape, (False,) if count else (False, True))
    if how:
        return nn.AvgPool2d(layer["kernel"], layer["stride"], how[0],
                            ceil_mode=how[1], count_include_pad=count)
    if count:
        return nn.Sequential(Pad(layer["pad"]),
                             nn.AvgPool2d(layer["kernel"], layer["stride"]))
    return AveragePool(layer, shape)


OPS = {
    "conv": _conv,
    "linear": _linear,
    "batch_norm": lambda l, shape: BatchNorm(l, shape[0]),
    "lrn": lambda l, shape: nn.LocalResponseNorm(l["size"], l["alpha"],
                                                 l["beta"], l["k"]),
    "max_pool": _max_pool,
    "average_pool": _average_pool,
    "global_pool": lambda l, shape: GlobalPool(),
    "sigmoid": lambda l, shape: nn.Sigmoid(),
    "tanh": lambda l, shape: nn.Tanh(),
    "softmax": lambda l, shape: nn.Softmax(1),
    "dropout": lambda l, shape: nn.Dropout(l["rate"]),
    "flatten": lambda l, shape: nn.Flatten(),
    "scale": lambda l, shape: Scale(l["factor"]),
    "concat": lambda l, shape: Concat(),
}

# Their backward does not look at what they gave: it may be overwritten.
FORGETS_OUTPUT = ("conv", "linear", "batch_norm", "add", "concat", "scale")

LEARNING = (nn.Conv2d, nn.Linear, BatchNorm)


class Net(nn.Module):
    """Layers in their order; a value is let go after its last use. As people
    write networks by hand, ReLUs and sums overwrite what nobody else needs."""

    def __init__(self, spec, dropout=True, in_place=True):
        super().__init__()
        if spec.get("schema") != "prony.model/1":
            raise Refusal(BAD_FILE, "the model is no prony.model/1")
        by_name = {l["name"]: l for l in spec["layers"]}
        layers = self._needed(spec, by_name)
        self.names = [l["name"] for l in layers]
        self.layers = layers
        self.output = self.names.index(spec["output"])
        number = {name: i for i, name in enumerate(self.names)}
        self.inputs = [[number[n] for n in l["inputs"]] for l in layers]
        self.dropout, self.in_place = dropout, in_place
        self.ops = nn.ModuleList(self._op(i) for i in range(len(layers)))
        self.done_with = self._last_uses()
        self.owners = [self._owner(op) for op in self.ops]

    @staticmethod
    def _needed(spec, by_name):
        """What the output depends on, in order."""
        wanted, stack = set(), [spec["output"]]
        while stack:
            name = stack.pop()
            if name not in wanted:
                wanted.add(name)
                stack += by_name[name]["inputs"]
        return [l for l in spec["layers"]
                if l["name"] in wanted or l["op"] == "input"]

    def _may_overwrite(self, i):
        """Whether the first input of a layer is needed by nobody else."""
        first = self.inputs[i][0]
        users = sum(inputs.count(first) for inputs in self.inputs)
        return (self.in_place and users == 1
                and self.layers[first]["op"] in FORGETS_OUTPUT
                and self._is_new(first))

    def _is_new(self, i):
        """Whether a layer's output is memory of its own."""
        return len(self.inputs[i]) > 1 or self.layers[i]["op"] not in (
            "add", "concat")

    def _op(self, i):
        layer = self.layers[i]
        op = layer["op"]
        if op == "input":
            return nn.Identity()
        if op == "relu":
            return nn.ReLU(inplace=self._may_overwrite(i))
        if op == "add":
            return Add(into=self._may_overwrite(i))
        if op == "dropout" and not self.dropout:
            return nn.Identity()
        if op not in OPS:
            raise Refusal(BAD_FILE, "layer '%s': unknown op '%s'"
                          % (layer["name"], op))
        return OPS[op](layer, self.layers[self.inputs[i][0]]["shape"])

    def _last_uses(self):
        """For each layer the values that nobody needs after it."""
        last = {}
        for i, inputs in enumerate(self.inputs):
            last.update((n, i) for n in inputs)
        return [[n for n in set(inputs) if last[n] == i and n != self.output]
                for i, inputs in enumerate(self.inputs)]

    @staticmethod
    def _owner(op):
        """The module of a layer that has tensors, or None."""
        return next((m for m in op.modules() if isinstance(m, LEARNING)), None)

    def forward(self, x):
        values = [None] * len(self.ops)
        values[0] = x
        for i, op in enumerate(self.ops):
            if i:
                values[i] = op(*[values[n] for n in self.inputs[i]])
                for n in self.done_with[i]:
                    values[n] = None
        return values[self.output]

    # ------------------------------------------------------------- tensors

    def tensors(self):
        """Name to tensor, as prony names them: LAYER.weight and so on."""
        found = {}
        for name, owner in zip(self.names, self.owners):
            for suffix in ("weight", "bias", "mean", "var"):
                t = getattr(owner, suffix, None)
                if t is not None and (suffix != "weight"
                                      or isinstance(t, nn.Parameter)):
                    found["%s.%s" % (name, suffix)] = t
        return found

    def reset(self, generator):
        """Initial weights as native's: uniform, of He's deviation; biases 0,
        batch norm 1 and 0."""
        with torch.no_grad():
            for owner in self.owners:
                if isinstance(owner, (nn.Conv2d, nn.Linear)):
                    bound = math.sqrt(6 / owner.weight[0].numel())
                    owner.weight.uniform_(-bound, bound, generator=generator)
                    if owner.bias is not None:
                        owner.bias.zero_()

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
        """Of one sample, by layer: forward, and the gradients needed."""
        flops, is_learned = [], []
        for layer, inputs, owner in zip(self.layers, self.inputs,
                                        self.owners):
            before = any(is_learned[n] for n in inputs)
            is_learned.append(before or owner is not None)
            flops.append(layer["flops"] * (2 + before if training else 1))
        return flops
