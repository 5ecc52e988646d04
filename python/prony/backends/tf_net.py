"""A network (model.Model) in TensorFlow: functions of tensors, and variables.
Images have their channels last, which is what processors are fast with;
weights are turned around when they come in and go out."""

import math

import numpy as np
import tensorflow as tf

from ..model import NORMS
from ..results import UNAVAILABLE, Refusal

TO_LAST, TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
NOWHERE = -1e9  # added to a score that does not count


def turned(x):
    """An image as others have it: channels first."""
    return tf.transpose(x, TO_FIRST) if len(x.shape) == 4 else x


def turned_back(x):
    return tf.transpose(x, TO_LAST) if len(x.shape) == 4 else x


def axis_of(x, axis):
    """Where a dimension of the sample is."""
    return {0: 3, 1: 1, 2: 2}[axis] if len(x.shape) == 4 else axis + 1


# ------------------------------------------------------------------ weights


class Kernel:
    """How the weight of a layer lies here; prony has [out, in …]."""

    def __init__(self, layer, into, shape):
        self.shape = shape
        self.steps = []  # (shape to see it as, order of dimensions)
        op = layer["op"]
        if op == "conv":
            out, width, rows, columns = shape
            if is_depthwise(layer, into):
                self.steps = [((into[0], out // into[0], rows, columns),
                               (2, 3, 0, 1))]
            else:
                self.steps = [(shape, (2, 3, 1, 0))]
        elif op == "linear":
            if len(into) == 3:  # channel by channel becomes place by place
                self.steps.append(((shape[0],) + tuple(into), (0, 2, 3, 1)))
            self.steps.append((shape, (1, 0)))

    def inside(self, a):
        for shape, order in self.steps:
            a = a.reshape(shape).transpose(order)
        return np.ascontiguousarray(a)

    def outside(self, a):
        for shape, order in reversed(self.steps):
            a = a.reshape([shape[i] for i in order]).transpose(
                np.argsort(order))
        return np.ascontiguousarray(a.reshape(self.shape))


def is_depthwise(layer, into):
    return layer["groups"] == into[0] > 1


# ------------------------------------------------------------------ windows


def _side(size, out, kernel, stride, dilation):
    """What "SAME" puts in front of and behind one side."""
    reach = (kernel - 1) * dilation + 1
    whole = max((out - 1) * stride + reach - size, 0)
    return whole // 2, whole - whole // 2


def padding(layer, into):
    """TensorFlow's word for it, or numbers."""
    top, left, bottom, right = layer["pad"]
    if not any(layer["pad"]):
        return "VALID"
    same = [_side(*sides) for sides in zip(
        into[1:], layer["shape"][1:], layer["kernel"], layer["stride"],
        layer["dilation"])]
    if same == [(top, bottom), (left, right)]:
        # Its output is the size divided by the stride, rounded up.
        if layer["shape"][1:] == [-(-n // s) for n, s in zip(
                into[1:], layer["stride"])]:
            return "SAME"
    return [[0, 0], [top, bottom], [left, right], [0, 0]]


def conv(net, layer, x):
    into = net.model.shape_into(layer)
    w = net.weight(layer, "weight")
    pad, strides = padding(layer, into), layer["stride"]
    if is_depthwise(layer, into):
        if strides[0] != strides[1]:  # it has square strides alone
            raise Refusal(UNAVAILABLE, "layer '%s': depthwise with strides %s"
                          % (layer["name"], strides))
        y = tf.nn.depthwise_conv2d(x, w, [1] + strides + [1], pad,
                                   dilations=layer["dilation"])
    else:
        groups = layer["groups"]
        parts = [tf.nn.conv2d(a, b, strides, pad, dilations=layer["dilation"])
                 for a, b in zip(tf.split(x, groups, 3),
                                 tf.split(w, groups, 3))] \
            if groups > 1 else [tf.nn.conv2d(x, w, strides, pad,
                                             dilations=layer["dilation"])]
        y = tf.concat(parts, 3) if groups > 1 else parts[0]
    return (tf.nn.bias_add(y, net.weight(layer, "bias")) if layer["bias"]
            else y)


def _pooled(x, layer, pad, pool):
    """With padding of any kind, which came before."""
    return pool(x, layer["kernel"], layer["stride"], pad)


def max_pool(net, layer, x):
    pad = padding(layer, net.model.shape_into(layer))
    if not isinstance(pad, str):
        x, pad = tf.pad(x, pad, constant_values=x.dtype.min), "VALID"
    return _pooled(x, layer, pad, tf.nn.max_pool2d)


def average_pool(net, layer, x):
    """Where padding does not count "SAME" leaves it out as well; numbers are
    divided by the share that is no padding."""
    pad = padding(layer, net.model.shape_into(layer))
    if pad == "VALID" or (pad == "SAME" and not layer["count_pad"]):
        return _pooled(x, layer, pad, tf.nn.avg_pool2d)
    top, left, bottom, right = layer["pad"]
    pad = [[0, 0], [top, bottom], [left, right], [0, 0]]
    y = _pooled(tf.pad(x, pad), layer, "VALID", tf.nn.avg_pool2d)
    if layer["count_pad"]:
        return y
    ones = tf.pad(tf.ones([1] + x.shape[1:3] + [1], x.dtype), pad)
    return y / _pooled(ones, layer, "VALID", tf.nn.avg_pool2d)


# -------------------------------------------------------------------- norms


def _gamma(net, layer, width):
    return (net.weight(layer, "weight", tf.float32) if layer["scale"]
            else tf.ones([width]))


def batch_norm(net, layer, x):
    shape, width = tf.shape(x), x.shape[-1]
    images = x if len(x.shape) == 4 else tf.reshape(x, [-1, 1, 1, width])
    gamma, beta = _gamma(net, layer, width), net.weight(layer, "bias",
                                                        tf.float32)
    mean, var = (net.variable(layer, s) for s in ("mean", "var"))
    training = net.model.training
    y = tf.raw_ops.FusedBatchNormV3(
        x=images, scale=gamma, offset=beta,
        mean=tf.zeros([0]) if training else mean,
        variance=tf.zeros([0]) if training else var,
        epsilon=layer["epsilon"], is_training=training)
    if training:
        m = layer["momentum"]
        mean.assign_add(m * (y.batch_mean - mean))
        var.assign_add(m * (y.batch_variance - var))
    return y.y if images is x else tf.reshape(y.y, shape)


def layer_norm(net, layer, x):
    if len(x.shape) == 4:
        raise Refusal(UNAVAILABLE, "layer '%s': the TensorFlow back-end has no "
                      "layer_norm of images" % layer["name"])
    wide = tf.cast(x, tf.float32)
    mean, var = tf.nn.moments(wide, -1, keepdims=True)
    y = tf.nn.batch_normalization(
        wide, mean, var, net.weight(layer, "bias", tf.float32),
        _gamma(net, layer, x.shape[-1]), layer["epsilon"])
    return tf.cast(y, x.dtype)


def lrn(_net, layer, x):
    return tf.nn.local_response_normalization(
        x, layer["size"] // 2, layer["k"], layer["alpha"] / layer["size"],
        layer["beta"])


# --------------------------------------------------------------------- rows


def linear(net, layer, x):
    into = net.model.shape_into(layer)
    if len(into) == 3:
        x = tf.reshape(x, [-1, math.prod(into)])
    # One that shares the table of an embedding has it as it is.
    theirs = net.model.by_name[net.model.owner(layer)]["op"] == "embedding"
    w = net.weight(layer, "weight")
    rows = tf.reshape(x, [-1, x.shape[-1]])
    y = tf.matmul(rows, w, transpose_b=theirs)
    if layer["bias"]:
        y = tf.nn.bias_add(y, net.weight(layer, "bias"))
    return tf.reshape(y, [-1] + layer["shape"]) if len(x.shape) == 3 else y


def _heads(x, heads):
    """[batch, rows, features] to [batch, heads, rows, features of one]."""
    x = tf.reshape(x, [-1, x.shape[1], heads, x.shape[2] // heads])
    return tf.transpose(x, (0, 2, 1, 3))


def _mask(layer, lengths, queries, keys, dtype):
    """What is added to scores: nothing, or so much that they do not count."""
    seen = tf.ones([1, 1, 1, keys], tf.bool)
    if lengths is not None:
        seen = tf.range(keys)[None, None, None] < tf.reshape(
            lengths, [-1, 1, 1, 1])
    if layer["causal"]:
        seen &= tf.range(keys) <= tf.range(queries)[:, None]
    return tf.where(seen, tf.constant(0, dtype), tf.constant(NOWHERE, dtype))


def attention(_net, layer, *inputs):
    parts = list(inputs)
    lengths = parts.pop() if layer["lengths"] else None
    q, k, v = tf.split(parts[0], 3, 2) if len(parts) == 1 else parts
    heads, width = layer["heads"], q.shape[2]
    scores = tf.matmul(_heads(q, heads), _heads(k, heads), transpose_b=True)
    scores *= 1 / math.sqrt(width / heads)
    if lengths is not None or layer["causal"]:
        scores += _mask(layer, lengths, q.shape[1], k.shape[1], scores.dtype)
    y = tf.matmul(tf.nn.softmax(scores), _heads(v, heads))
    return tf.reshape(tf.transpose(y, (0, 2, 1, 3)), [-1] + layer["shape"])


# ------------------------------------------------------------------- others


def softmax(_net, _layer, x):
    return tf.nn.softmax(x, 2 if len(x.shape) == 4 else -1)


def dropout(net, layer, x):
    return tf.nn.dropout(x, layer["rate"]) \
        if net.dropout and net.model.training else x


def reshape(_net, layer, x):
    return turned_back(tf.reshape(turned(x), [-1] + layer["shape"]))


def cut(_net, layer, x):
    axis = axis_of(x, layer["axis"])
    begin, size = [0] * len(x.shape), [-1] * len(x.shape)
    begin[axis], size[axis] = layer["first"], layer["count"]
    return tf.slice(x, begin, size)


def multiply(_net, _layer, first, *rest):
    for part in rest:
        first *= part
    return first


OPS = {
    "conv": conv, "linear": linear, "max_pool": max_pool,
    "average_pool": average_pool, "batch_norm": batch_norm,
    "layer_norm": layer_norm, "lrn": lrn, "softmax": softmax,
    "dropout": dropout, "attention": attention, "slice": cut,
    "reshape": reshape, "flatten": reshape, "multiply": multiply,
    "global_pool": lambda net, l, x: tf.reduce_mean(x, (1, 2)),
    "relu": lambda net, l, x: tf.nn.relu(x),
    "leaky_relu": lambda net, l, x: tf.nn.leaky_relu(x, l["factor"]),
    "gelu": lambda net, l, x: tf.nn.gelu(x, approximate=False),
    "sigmoid": lambda net, l, x: tf.sigmoid(x),
    "tanh": lambda net, l, x: tf.tanh(x),
    "exp": lambda net, l, x: tf.exp(x),
    "scale": lambda net, l, x: x * l["factor"],
    "transpose": lambda net, l, x: tf.transpose(x, (0, 2, 1)),
    "concat": lambda net, l, *x: tf.concat(x, axis_of(x[0],
                                                      l.get("axis", 0))),
    "add": lambda net, l, *x: x[0] if len(x) == 1 else tf.add_n(x)
    if len(x) > 2 else x[0] + x[1],
    "embedding": lambda net, l, x: tf.gather(net.weight(l, "weight"), x),
    "gather": lambda net, l, x, ids: tf.gather(x, ids, batch_dims=1),
}


# ------------------------------------------------------------------- losses


def _mean(values, weights, loss):
    """Of rows that count, or their sum."""
    whole = tf.reduce_sum(values * weights)
    return whole if loss.get("reduce") == "sum" else tf.math.divide_no_nan(
        whole, tf.reduce_sum(weights))


def cross_entropy(loss, x, target, weights):
    classes = x.shape[-1]
    x, ids = tf.reshape(x, [-1, classes]), tf.reshape(target, [-1])
    smoothing = loss.get("smoothing") or 0
    value = (1 - smoothing) * \
        tf.nn.sparse_softmax_cross_entropy_with_logits(ids, x)
    if smoothing:
        value -= smoothing * tf.reduce_mean(tf.nn.log_softmax(x), 1)
    counts = (tf.ones_like(value) if weights is None
              else tf.cast(tf.reshape(weights, [-1]), tf.float32))
    if loss.get("ignore") is not None:
        counts *= tf.cast(ids != loss["ignore"], tf.float32)
    return _mean(value, counts, loss)


def mse(loss, x, target, weights):
    if isinstance(target, tf.Tensor):
        target = tf.cast(target, tf.float32)
    square = tf.math.squared_difference(x, target)
    if weights is not None:
        square *= tf.reshape(tf.cast(weights, tf.float32),
                             [-1] + x.shape[1:-1] + [1])
    return (tf.reduce_sum if loss.get("reduce") == "sum"
            else tf.reduce_mean)(square)


LOSSES = {"cross_entropy": cross_entropy, "mse": mse}


# ------------------------------------------------------------------ network


def refuse_unknown(model):
    """Before anything is computed."""
    for layer in model.layers:
        if layer["op"] not in OPS and layer["op"] != "input":
            raise Refusal(UNAVAILABLE, "layer '%s': the TensorFlow back-end "
                          "has no %s" % (layer["name"], layer["op"]))
    for loss in model.losses:
        if loss["kind"] not in LOSSES:
            raise Refusal(UNAVAILABLE, "loss '%s': the TensorFlow back-end "
                          "has no %s" % (loss["name"], loss["kind"]))
    if model.training and model.spec.get("turns", 1) > 1:
        raise Refusal(UNAVAILABLE, "model '%s': the TensorFlow back-end has "
                      "no networks that learn in turn" % model.spec["name"])


class Net:
    """dtype is that of variables, compute that of values; norms have
    float32."""

    def __init__(self, model, arrays, dtype, compute, drop):
        refuse_unknown(model)
        self.model, self.dropout = model, drop
        self.compute = tf.as_dtype(compute)
        self.kernels, self.variables = {}, {}
        for name, array in arrays.items():
            layer = model.by_name[name.rpartition(".")[0]]
            if name.endswith(".weight") and len(array.shape) > 1:
                self.kernels[name] = Kernel(layer, model.shape_into(layer),
                                            array.shape)
                array = self.kernels[name].inside(array)
            self.variables[name] = tf.Variable(
                array, trainable=model.tensors[name][1],
                dtype="float32" if layer["op"] in NORMS else dtype)

    def variable(self, layer, suffix):
        return self.variables["%s.%s" % (self.model.owner(layer), suffix)]

    def weight(self, layer, suffix, dtype=None):
        return tf.cast(self.variable(layer, suffix), dtype or self.compute)

    def learned(self):
        return {n: v for n, v in self.variables.items() if v.trainable}

    # ---------------------------------------------------------------- values

    def inside(self, batch):
        """A batch as it is computed with."""
        found = {n: turned_back(tf.constant(a)) for n, a in batch.items()}
        return {n: tf.cast(a, self.compute) if a.dtype.is_floating else a
                for n, a in found.items()}

    def outside(self, value, name):
        """Of a layer, as prony has it."""
        shape = [-1] + self.model.by_name[name]["shape"]
        return tf.reshape(turned(tf.cast(value, tf.float32)), shape).numpy()

    def values(self, batch):
        """Of every layer, by name."""
        found = dict(batch)
        for layer in self.model.layers:
            name = layer["name"]
            if layer["op"] == "input":
                continue
            with tf.name_scope(name.replace("-", "_")):
                found[name] = OPS[layer["op"]](
                    self, layer, *[found[n] for n in layer["inputs"]])
        return found

    def infer(self, batch):
        return self.values(batch)[self.model.spec["output"]], tf.zeros([])

    def loss(self, found):
        whole = tf.zeros([])
        for loss in self.model.losses:
            target = loss["target"]
            if isinstance(target, list):
                target = tf.stop_gradient(found[target[0]])
            weights = found[loss["weights"]] if loss.get("weights") else None
            whole += loss.get("factor", 1) * LOSSES[loss["kind"]](
                loss, tf.cast(found[loss["of"][0]], tf.float32), target,
                weights)
        return whole

    # --------------------------------------------------------------- tensors

    def array(self, name, array):
        """A tensor or its gradient in prony's order."""
        array = np.asarray(tf.cast(array, tf.float32))
        return (self.kernels[name].outside(array) if name in self.kernels
                else array)

    def tensors(self):
        """By prony's names, in its order."""
        return {n: self.array(n, v) for n, v in self.variables.items()}
