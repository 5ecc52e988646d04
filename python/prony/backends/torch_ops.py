"""What layers of a model are in PyTorch: a module of torch.nn where there is
one. Shapes are those of a sample; tensors have the batch in front."""

import math

import torch
from torch import nn
from torch.nn import functional as F


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


# -------------------------------------------------------------------- norms


class Norm(nn.Module):
    """Without a scale gamma stays 1."""

    def __init__(self, layer, channels):
        super().__init__()
        self.epsilon, self.channels = layer["epsilon"], channels
        one = torch.ones(channels)
        if layer["scale"]:
            self.weight = nn.Parameter(one)
        else:
            self.register_buffer("weight", one, persistent=False)
        self.bias = nn.Parameter(torch.zeros(channels))


class BatchNorm(Norm):
    """Of images, of features, or of the features of all rows."""

    def __init__(self, layer, shape):
        channels = shape[-1] if len(shape) == 2 else shape[0]
        super().__init__(layer, channels)
        self.momentum, self.has_rows = layer["momentum"], len(shape) == 2
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("var", torch.ones(channels))

    def forward(self, x):
        if self.has_rows:
            return self.normed(x.flatten(0, 1)).view(x.shape)
        return self.normed(x)

    def normed(self, x):
        return F.batch_norm(x, self.mean, self.var, self.weight, self.bias,
                            self.training, self.momentum, self.epsilon)


class LayerNorm(Norm):
    def forward(self, x):
        return F.layer_norm(x, (self.channels,), self.weight, self.bias,
                            self.epsilon)


class InstanceNorm(Norm):
    def forward(self, x):
        return F.instance_norm(x, weight=self.weight, bias=self.bias,
                               eps=self.epsilon)


# ---------------------------------------------------------------- sequences


class Recurrent(nn.Module):
    """An LSTM or GRU over rows. With carry it begins where the batch before
    ended."""

    def __init__(self, kind, layer, shape):
        super().__init__()
        self.rnn = kind(shape[-1], layer["out"], batch_first=True)
        self.reverse, self.carry = layer["reverse"], layer["carry"]
        self.state = None

    def forward(self, x):
        if self.reverse:
            x = x.flip(1)
        if self.carry:
            x = self._carry_on(x)
        else:
            x = self.rnn(x)[0]
        return x.flip(1) if self.reverse else x

    def _carry_on(self, x):
        state = self.state
        if state is not None and state[0].shape[1] != x.shape[0]:
            state = None  # a batch of another size has no past
        if isinstance(self.rnn, nn.LSTM):
            x, state = self.rnn(x, state)
        else:
            x, *state = self.rnn(x, state and state[0])
        self.state = tuple(t.detach() for t in state)
        return x


def key_mask(lengths, count):
    """[batch, count]: which keys of each sample there are."""
    return torch.arange(count, device=lengths.device) < lengths.view(-1, 1)


def dot_product_attention(q, k, v, mask, is_causal):
    """F.scaled_dot_product_attention, for a PyTorch that has none."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if is_causal:
        mask = scores.new_ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1) @ v


if hasattr(F, "scaled_dot_product_attention"):
    def dot_product_attention(q, k, v, mask, is_causal):  # noqa: F811
        return F.scaled_dot_product_attention(q, k, v, mask,
                                              is_causal=is_causal)


class Attention(nn.Module):
    """Of several heads; q, k and v come side by side, or one by one."""

    def __init__(self, layer):
        super().__init__()
        self.heads, self.is_causal = layer["heads"], layer["causal"]
        self.has_lengths = layer["lengths"]

    def forward(self, *parts):
        lengths = None
        if self.has_lengths:
            *parts, lengths = parts
        if len(parts) == 1:
            q, k, v = parts[0].unflatten(-1, (3, self.heads, -1)) \
                .permute(2, 0, 3, 1, 4).unbind()
        else:
            q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                       for p in parts)
        mask, is_causal = None, self.is_causal
        if lengths is not None:
            mask = key_mask(lengths, k.shape[2])[:, None, None]
            if is_causal:
                mask = mask & torch.ones(
                    q.shape[2], k.shape[2], dtype=torch.bool,
                    device=mask.device).tril()
                is_causal = False
        x = dot_product_attention(q, k, v, mask, is_causal)
        return x.transpose(1, 2).flatten(2)


class AdditiveAttention(nn.Module):
    """Bahdanau's: a key's score is w · tanh(query + key)."""

    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features))
        nn.init.uniform_(self.weight, -features ** -.5, features ** -.5)

    def forward(self, queries, keys, values, lengths=None):
        scores = torch.tanh(queries.unsqueeze(2)
                            + keys.unsqueeze(1)) @ self.weight
        if lengths is not None:
            mask = key_mask(lengths, keys.shape[1])
            scores = scores.masked_fill(~mask.unsqueeze(1), -math.inf)
        return scores.softmax(-1) @ values


class Gather(nn.Module):
    """Rows by their number."""

    def forward(self, rows, ids):
        count = rows.shape[1]
        first = torch.arange(0, rows.shape[0] * count, count,
                             device=ids.device)
        found = rows.flatten(0, 1).index_select(
            0, (ids + first.unsqueeze(1)).flatten())
        return found.view(*ids.shape, -1)


# --------------------------------------------------------------------- rest


class GlobalPool(nn.Module):
    def forward(self, x):
        return torch.flatten(F.adaptive_avg_pool2d(x, 1), 1)


class Gram(nn.Module):
    """Products of channels, over all places."""

    def forward(self, x):
        f = x.flatten(2)
        return f @ f.transpose(1, 2) / (f.shape[1] * f.shape[2])


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.forward = function


def _scale(layer, _shape):
    factor = layer["factor"]
    return Call(lambda x: x * factor)


def _multiply(_layer, _shape):
    def multiply(first, *rest):
        for part in rest:
            first = first * part
        return first
    return Call(multiply)


def _concat(layer, _shape):
    axis = layer.get("axis", 0) + 1
    return Call(lambda *parts: torch.cat(parts, axis))


def _reshape(layer, _shape):
    shape = layer["shape"]
    return Call(lambda x: x.reshape(x.shape[0], *shape))


def _slice(layer, _shape):
    axis, first, count = layer["axis"] + 1, layer["first"], layer["count"]
    return Call(lambda x: x.narrow(axis, first, count))


class Add(nn.Module):
    """The first part may be overwritten when `into` is true."""

    def __init__(self, into):
        super().__init__()
        self.into = into

    def forward(self, first, *rest):
        for part in rest:
            first = first.add_(part) if self.into else first + part
        return first


def _is_even(pad):
    return pad[0] == pad[2] and pad[1] == pad[3]


def _conv(layer, shape):
    even = _is_even(layer["pad"])
    conv = nn.Conv2d(shape[0], layer["out"], layer["kernel"], layer["stride"],
                     layer["pad"][:2] if even else 0, layer["dilation"],
                     layer["groups"], layer["bias"])
    return conv if even else nn.Sequential(Pad(layer["pad"]), conv)


def _transposed_conv(layer, shape):
    even = _is_even(layer["pad"])
    conv = nn.ConvTranspose2d(
        shape[0], layer["out"], layer["kernel"], layer["stride"],
        layer["pad"][:2] if even else 0, bias=layer["bias"])
    return conv if even else nn.Sequential(
        conv, Pad([-p for p in layer["pad"]]))


def _linear(layer, shape):
    if len(shape) < 3:
        return nn.Linear(shape[-1], layer["out"], layer["bias"])
    return nn.Sequential(nn.Flatten(), nn.Linear(
        math.prod(shape), layer["out"], layer["bias"]))


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


def _reflect_pad(layer, _shape):
    top, left, bottom, right = layer["pad"]
    return nn.ReflectionPad2d((left, right, top, bottom))


# By op: a module for a layer and the shape of its first input. Those that may
# overwrite something (relu, leaky_relu, add) are Net's.
OPS = {
    "conv": _conv,
    "transposed_conv": _transposed_conv,
    "linear": _linear,
    "embedding": lambda l, shape: nn.Embedding(l["ids"], l["out"],
                                               sparse=l["sparse"]),
    "batch_norm": BatchNorm,
    "layer_norm": lambda l, shape: LayerNorm(l, shape[-1]),
    "instance_norm": lambda l, shape: InstanceNorm(l, shape[0]),
    "lrn": lambda l, shape: nn.LocalResponseNorm(l["size"], l["alpha"],
                                                 l["beta"], l["k"]),
    "max_pool": _max_pool,
    "average_pool": _average_pool,
    "global_pool": lambda l, shape: GlobalPool(),
    "gelu": lambda l, shape: nn.GELU(),
    "sigmoid": lambda l, shape: nn.Sigmoid(),
    "tanh": lambda l, shape: nn.Tanh(),
    "exp": lambda l, shape: Call(torch.exp),
    "softmax": lambda l, shape: nn.Softmax(-1),
    "dropout": lambda l, shape: nn.Dropout(l["rate"]),
    "lstm": lambda l, shape: Recurrent(nn.LSTM, l, shape),
    "gru": lambda l, shape: Recurrent(nn.GRU, l, shape),
    "attention": lambda l, shape: Attention(l),
    "additive_attention": lambda l, shape: AdditiveAttention(shape[-1]),
    "gather": lambda l, shape: Gather(),
    "flatten": lambda l, shape: nn.Flatten(),
    "reshape": _reshape,
    "transpose": lambda l, shape: Call(lambda x: x.transpose(1, 2)),
    "slice": _slice,
    "pixel_shuffle": lambda l, shape: nn.PixelShuffle(l["size"]),
    "upsample": lambda l, shape: nn.Upsample(scale_factor=l["size"]),
    "reflect_pad": _reflect_pad,
    "gram": lambda l, shape: Gram(),
    "scale": _scale,
    "concat": _concat,
    "multiply": _multiply,
}

LEARNING = (nn.Conv2d, nn.ConvTranspose2d, nn.Linear, nn.Embedding,
            nn.RNNBase, Norm, AdditiveAttention)


def tensor_names(module):
    """What prony calls the tensors of a module that learns: {name: torch's}.
    A gamma that stays 1 is none."""
    if isinstance(module, nn.RNNBase):
        return {"weight": "weight_ih_l0", "recurrent": "weight_hh_l0",
                "bias": "bias_ih_l0", "recurrent_bias": "bias_hh_l0"}
    names = {n: n for n in ("weight", "bias", "mean", "var")
             if getattr(module, n, None) is not None}
    if isinstance(module, Norm) and not isinstance(module.weight,
                                                   nn.Parameter):
        del names["weight"]
    return names
