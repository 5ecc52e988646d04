"""A network (model.Model) as a graph of ONNX, for inference: dropout is left
out, batch norm is left for the runtime to fold away."""

import math

import numpy as np

from ..results import UNAVAILABLE, Refusal
from .onnx_file import TYPES, Graph

NOWHERE = -1e9  # added to a score that does not count


class Writer:
    """One method for an op whose nodes need more than attributes."""

    def __init__(self, model, arrays, batch):
        self.model, self.arrays, self.batch = model, arrays, batch
        self.graph = Graph(model.spec["name"])
        for layer in model.inputs:
            self.graph.input(layer["name"],
                             "int32" if layer.get("ids") else "float32",
                             [batch] + layer["shape"])
        self.renamed = {}  # dropout is what comes in
        for layer in model.layers:
            if layer["op"] != "input":
                self._put(layer)
        self._end(model.spec["output"])

    def _end(self, output):
        graph, found = self.graph, self.renamed.get(output, output)
        if found != output:  # an output has a name of its own
            graph.node("Identity", [found], output)
        graph.output(output, "float32",
                     [self.batch] + self.model.by_name[output]["shape"])

    def _put(self, layer):
        inputs = [self.renamed.get(n, n) for n in layer["inputs"]]
        op, name = layer["op"], layer["name"]
        if op == "dropout" or (op in ("add", "concat", "multiply")
                               and len(inputs) == 1):
            self.renamed[name] = inputs[0]
        elif op in SIMPLE:
            kind, attributes = SIMPLE[op]
            self.graph.node(kind, inputs, name, **attributes(layer))
        elif hasattr(self, "_" + op):
            getattr(self, "_" + op)(layer, name, inputs)
        else:
            raise Refusal(UNAVAILABLE, "layer '%s': the ONNX writer has no %s"
                          % (name, op))

    def _tensor(self, layer, suffix):
        name = "%s.%s" % (self.model.owner(layer), suffix)
        return self.graph.constant(name, self.arrays[name])

    def _numbers(self, name, what, values, dtype="int64"):
        return self.graph.constant("%s:%s" % (name, what),
                                   np.array(values, dtype))

    def _scale_and_shift(self, layer):
        weight = (self._tensor(layer, "weight") if layer["scale"]
                  else self._numbers(layer["name"], "ones", np.ones(
                      self.arrays[layer["name"] + ".bias"].shape), "float32"))
        return [weight, self._tensor(layer, "bias")]

    def _conv(self, layer, name, inputs):
        inputs += [self._tensor(layer, "weight")]
        if layer["bias"]:
            inputs += [self._tensor(layer, "bias")]
        self.graph.node("Conv", inputs, name, **window(layer),
                        group=layer["groups"])

    def _linear(self, layer, name, inputs):
        g, into = self.graph, self.model.shape_into(layer)
        weight = self._tensor(layer, "weight")
        bias = [self._tensor(layer, "bias")] if layer["bias"] else []
        if len(into) != 2:
            if len(into) == 3:
                inputs = [g.node("Flatten", inputs, name + ":flat", axis=1)]
            g.node("Gemm", inputs + [weight] + bias, name, transB=1)
            return
        turned = g.node("Transpose", [weight], name + ":weight", perm=[1, 0])
        product = g.node("MatMul", inputs + [turned],
                         name + ":product" if bias else name)
        if bias:
            g.node("Add", [product] + bias, name)

    def _batch_norm(self, layer, name, inputs):
        g, rows = self.graph, len(layer["shape"]) == 2
        if rows:  # channels are second there
            inputs = [g.node("Transpose", inputs, name + ":in",
                             perm=[0, 2, 1])]
        inputs += self._scale_and_shift(layer) + [
            self._tensor(layer, s) for s in ("mean", "var")]
        out = g.node("BatchNormalization", inputs,
                     name + ":out" if rows else name,
                     epsilon=float(layer["epsilon"]))
        if rows:
            g.node("Transpose", [out], name, perm=[0, 2, 1])

    def _layer_norm(self, layer, name, inputs):
        if len(layer["shape"]) == 3:
            raise Refusal(UNAVAILABLE, "layer '%s': the ONNX writer has no "
                          "layer_norm of images" % name)
        self.graph.node("LayerNormalization",
                        inputs + self._scale_and_shift(layer), name,
                        axis=-1, epsilon=float(layer["epsilon"]))

    def _global_pool(self, _layer, name, inputs):
        mean = self.graph.node("GlobalAveragePool", inputs, name + ":mean")
        self.graph.node("Flatten", [mean], name, axis=1)

    def _scale(self, layer, name, inputs):
        self.graph.node("Mul", inputs + [self._numbers(
            name, "factor", layer["factor"], "float32")], name)

    def _gelu(self, _layer, name, inputs):
        """x / 2 (1 + erf(x / sqrt 2)): runtimes know this pattern."""
        g = self.graph
        root, one, half = (self._numbers("gelu", what, x, "float32") for
                           what, x in (("root", math.sqrt(2)), ("one", 1),
                                       ("half", .5)))
        x = g.node("Div", inputs + [root], name + ":scaled")
        x = g.node("Erf", [x], name + ":erf")
        x = g.node("Add", [x, one], name + ":shifted")
        x = g.node("Mul", inputs + [x], name + ":whole")
        g.node("Mul", [x, half], name)

    def _joined(self, op, name, inputs):
        so_far = inputs[0]
        for i, other in enumerate(inputs[1:], 1):
            last = i == len(inputs) - 1
            so_far = self.graph.node(op, [so_far, other], name if last
                                     else "%s:%d" % (name, i))

    def _add(self, _layer, name, inputs):
        self._joined("Add", name, inputs)

    def _multiply(self, _layer, name, inputs):
        self._joined("Mul", name, inputs)

    def _concat(self, layer, name, inputs):
        self.graph.node("Concat", inputs, name, axis=layer.get("axis", 0) + 1)

    def _reshape(self, layer, name, inputs):
        self.graph.node("Reshape", inputs + [self._numbers(
            name, "shape", [self.batch] + layer["shape"])], name)

    def _slice(self, layer, name, inputs):
        first = layer["first"]
        self.graph.node("Slice", inputs + [
            self._numbers(name, what, [n]) for what, n in (
                ("first", first), ("end", first + layer["count"]),
                ("axis", layer["axis"] + 1))], name)

    def _embedding(self, layer, name, inputs):
        self.graph.node("Gather", [self._tensor(layer, "weight")] + inputs,
                        name, axis=0)

    def _gather(self, _layer, name, inputs):
        g, (rows, ids) = self.graph, inputs
        ids = g.node("Cast", [ids], name + ":ids", to=TYPES["int64"])
        ids = g.node("Unsqueeze", [ids, self._numbers("gather", "axis", [2])],
                     name + ":places")
        g.node("GatherND", [rows, ids], name, batch_dims=1)

    # ------------------------------------------------------------ attention

    def _heads(self, x, name, heads, rows, width, order):
        """[batch, rows, features] to [batch, heads, rows, of one], or its
        last two turned."""
        g = self.graph
        x = g.node("Reshape", [x, self._numbers(
            "heads", "%dx%dx%d" % (heads, rows, width),
            [self.batch, rows, heads, width // heads])], name + ":split")
        return g.node("Transpose", [x], name, perm=order)

    def _parts(self, layer, name, inputs):
        """Names of queries, keys and values, and the numbers of rows."""
        shapes = [self.model.shape_into(layer, i) for i in range(len(inputs))]
        if len(inputs) == 3:
            return inputs, shapes[0][0], shapes[1][0]
        rows, width = shapes[0][0], shapes[0][1] // 3
        parts = []
        for i, what in enumerate("qkv"):
            ends = [self._numbers("width%d" % width, str(n), [n * width])
                    for n in (i, i + 1)]
            parts.append(self.graph.node(
                "Slice", inputs + ends + [self._numbers("features", "axis",
                                                        [2])],
                "%s:%s" % (name, what)))
        return parts, rows, rows

    def _masked(self, layer, name, scores, lengths, queries, keys):
        """Scores of keys that do not count become small."""
        g = self.graph
        if layer["causal"]:
            mask = np.triu(np.full((queries, keys), NOWHERE, "float32"), 1)
            scores = g.node("Add", [scores, g.constant(
                "causal:%dx%d" % (queries, keys), mask)], name + ":causal")
        if lengths:
            places = self._numbers("keys", str(keys), np.arange(keys), "int32")
            seen = g.node("Less", [places, lengths], name + ":seen")
            zero, small = (self._numbers("score", str(i), x, "float32")
                           for i, x in enumerate((0, NOWHERE)))
            mask = g.node("Where", [seen, zero, small], name + ":small")
            mask = g.node("Unsqueeze", [mask, self._numbers(
                "mask", "axes", [1, 2])], name + ":mask")
            scores = g.node("Add", [scores, mask], name + ":masked")
        return scores

    def _attention(self, layer, name, inputs):
        g, heads, width = self.graph, layer["heads"], layer["shape"][1]
        lengths = inputs.pop() if layer["lengths"] else None
        parts, queries, keys = self._parts(layer, name, inputs)
        q, k, v = (self._heads(x, "%s:%s" % (name, what), heads, n, width,
                               order) for x, what, n, order in zip(
            parts, ("queries", "keys", "values"), (queries, keys, keys),
            ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
        x = g.node("MatMul", [q, k], name + ":product")
        x = g.node("Mul", [x, self._numbers(
            "heads", "scale%d" % (width // heads),
            1 / math.sqrt(width / heads), "float32")], name + ":scores")
        x = self._masked(layer, name, x, lengths, queries, keys)
        x = g.node("Softmax", [x], name + ":shares", axis=-1)
        x = g.node("MatMul", [x, v], name + ":sums")
        x = g.node("Transpose", [x], name + ":rows", perm=[0, 2, 1, 3])
        self._reshape(layer, name, [x])


def window(layer):
    found = {"kernel_shape": layer["kernel"], "strides": layer["stride"],
             "pads": layer["pad"]}
    if layer.get("dilation", [1, 1]) != [1, 1]:
        found["dilations"] = layer["dilation"]
    return found


# Ops that are one node: its kind, and attributes from the layer.
SIMPLE = {
    "relu": ("Relu", lambda l: {}),
    "leaky_relu": ("LeakyRelu", lambda l: {"alpha": float(l["factor"])}),
    "sigmoid": ("Sigmoid", lambda l: {}),
    "tanh": ("Tanh", lambda l: {}),
    "exp": ("Exp", lambda l: {}),
    "softmax": ("Softmax", lambda l: {"axis": -1}),
    "flatten": ("Flatten", lambda l: {"axis": 1}),
    "transpose": ("Transpose", lambda l: {"perm": [0, 2, 1]}),
    "max_pool": ("MaxPool", window),
    "average_pool": ("AveragePool", lambda l: dict(
        window(l), count_include_pad=int(l["count_pad"]))),
    "lrn": ("LRN", lambda l: {
        "size": l["size"], "alpha": float(l["alpha"]),
        "beta": float(l["beta"]), "bias": float(l["k"])}),
}
