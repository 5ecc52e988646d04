"""The network of model.json (prony.model/1 or /2), for back-ends that compute
with arrays: which layers are needed, which tensors they have, batches."""

import math

import numpy as np

from .results import BAD_FILE, Refusal
from .tensors import load

SCHEMAS = ("prony.model/1", "prony.model/2")
NORMS = ("batch_norm", "layer_norm", "instance_norm")


def _as_second(spec):
    """The first form has one input, and labels that are scored."""
    if "losses" in spec:
        return spec
    labels = {"name": "labels", "op": "input", "inputs": [], "shape": [1],
              "ids": spec["classes"], "params": 0, "flops": 0}
    loss = {"name": "loss1", "kind": "cross_entropy", "of": [spec["output"]],
            "target": ["labels"], "factor": 1}
    return dict(spec, layers=[labels] + spec["layers"], losses=[loss])


def _needed(layers, wanted):
    """What these depend on, in order."""
    by_name = {l["name"]: l for l in layers}
    found, stack = set(), list(wanted)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += by_name[name]["inputs"]
    return [l for l in layers if l["name"] in found]


def _loss_layers(loss):
    """Names of all that a loss looks at."""
    target = loss.get("target")
    names = list(loss["of"]) + (target if isinstance(target, list) else [])
    return names + [loss[n] for n in ("weights", "lengths") if loss.get(n)]


class Model:
    """Layers in their order, inputs first."""

    def __init__(self, spec, training):
        if spec.get("schema") not in SCHEMAS:
            raise Refusal(BAD_FILE, "the model is no %s"
                          % " or ".join(SCHEMAS))
        spec = _as_second(spec)
        self.spec, self.training = spec, training
        self.losses = spec["losses"] if training else []
        wanted = [spec["output"]]
        for loss in self.losses:
            wanted += _loss_layers(loss)
        self.layers = _needed(spec["layers"], wanted)
        self.by_name = {l["name"]: l for l in self.layers}
        self.inputs = [l for l in self.layers if l["op"] == "input"]
        self.tensors = {}
        for layer in self.layers:
            if layer.get("like", layer["name"]) == layer["name"]:
                self._add_tensors(layer)

    def shape_into(self, layer, i=0):
        """Of what comes into a layer."""
        return self.by_name[layer["inputs"][i]]["shape"]

    def owner(self, layer):
        """The layer whose tensors this one has: itself, mostly."""
        return layer.get("like") or layer["name"]

    # -------------------------------------------------------------- tensors

    def _add_tensors(self, layer):
        """name: (shape, is it learned)."""
        def add(suffix, shape, learned=True):
            self.tensors["%s.%s" % (layer["name"], suffix)] = (
                list(shape), learned and layer.get("learns", 0) is not None)

        op = layer["op"]
        if op in ("conv", "linear"):
            into = self.shape_into(layer)
            width = (into[0] // layer["groups"] if op == "conv"
                     else into[-1] if len(into) == 2 else math.prod(into))
            window = layer["kernel"] if op == "conv" else []
            add("weight", [layer["out"], width] + window)
            if layer["bias"]:
                add("bias", [layer["out"]])
        elif op == "embedding":
            add("weight", [self._ids(layer), layer["out"]])
        elif op in NORMS:
            width = layer["shape"][0 if op != "layer_norm" else -1]
            if op == "batch_norm" and len(layer["shape"]) == 2:
                width = layer["shape"][1]
            if layer["scale"]:
                add("weight", [width])
            add("bias", [width])
            if op == "batch_norm":
                add("mean", [width], False)
                add("var", [width], False)

    def _ids(self, layer):
        return layer.get("ids") or self.by_name[layer["inputs"][0]]["ids"]

    def _first(self, name, rng):
        """As native's: uniform, of He's deviation; biases 0, norms 1 and
        0."""
        shape, _ = self.tensors[name]
        suffix = name.rpartition(".")[2]
        if suffix == "weight" and len(shape) > 1:
            bound = math.sqrt(6 / math.prod(shape[1:]))
            return rng.uniform(-bound, bound, shape)
        return np.full(shape, suffix in ("weight", "var"))

    def first_tensors(self, arrays, rng):
        """Those that are in the file, the others at random."""
        found = {}
        for name, (shape, _) in self.tensors.items():
            t = arrays[name] if name in arrays else self._first(name, rng)
            if list(t.shape) != shape:
                raise Refusal(BAD_FILE, "tensor '%s' is %s, the model has %s"
                              % (name, list(t.shape), shape))
            found[name] = t.astype("float32")
        return found

    # -------------------------------------------------------------- batches

    def _noise(self, batch, rng):
        """Normal floats, ids all alike; a length is never 0."""
        lengths = {l["inputs"][-1] for l in self.layers if l.get("lengths")}
        found = {}
        for layer in self.inputs:
            name, shape = layer["name"], [batch] + layer["shape"]
            found[name] = (
                rng.integers(int(name in lengths), layer["ids"], shape,
                             "int32") if layer.get("ids")
                else rng.standard_normal(shape, "float32"))
        return found

    def _given(self, layer, batch, array):
        name, shape, ids = layer["name"], layer["shape"], layer.get("ids")
        if array.size != batch * math.prod(shape) or len(array) != batch:
            raise Refusal(BAD_FILE, "%s is %s, a batch has %s" % (
                name, list(array.shape), [batch] + shape))
        array = array.reshape([batch] + shape)
        if not ids:
            return array.astype("float32")
        if not 0 <= array.min() <= array.max() < ids:
            raise Refusal(BAD_FILE, "%s must be below %d" % (name, ids))
        return array.astype("int32")

    def _all_given(self, batch, arrays, ending=""):
        """The batch of arrays that are called as the inputs, or None."""
        names = {l["name"]: l["name"] + ending for l in self.inputs}
        if not all(n in arrays for n in names.values()):
            return None
        return {l["name"]: self._given(l, batch, arrays[names[l["name"]]])
                for l in self.inputs}

    def batches(self, size, arrays, path, rng):
        """Maps of names: that of nn.load if all inputs are there, those of
        nn.batches (tensors INPUT.NUMBER), or noise."""
        given = self._all_given(size, arrays)
        if given or not path:
            return [given or self._noise(size, rng)]
        arrays, found = load(path), []
        while True:
            given = self._all_given(size, arrays, ".%d" % len(found))
            if not given:
                break
            found.append(given)
        if not found:
            raise Refusal(BAD_FILE, "%s: no batches of %s in there" % (
                path, ", ".join(l["name"] for l in self.inputs)))
        return found

    def is_about(self, arrays):
        """How many of its tensors are in a file."""
        return sum(n in arrays for n in self.tensors)

    def read(self, path, warn):
        """The tensors of nn.load; "" has none."""
        arrays = load(path) if path else {}
        found = self.is_about(arrays)
        if path and not found and self.inputs[0]["name"] not in arrays:
            raise Refusal(BAD_FILE, "%s: it has no tensor of '%s'"
                          % (path, self.spec["name"]))
        if 0 < found < len(self.tensors):
            warn("nn.load: %d of the model's %d tensors are in the file, the "
                 "others start at random" % (found, len(self.tensors)))
        return arrays

    # ---------------------------------------------------------------- FLOPs

    def flops(self):
        """Of one sample: forward, and the gradients that are needed. Products
        of two values (attention) have two to go back to."""
        reached = {l["name"] for l in _needed(self.layers, [
            n for loss in self.losses for n in loss["of"]])}
        whole, is_learned = 0, {}
        for layer in self.layers:
            name, times = layer["name"], 1
            before = any(is_learned[n] for n in layer["inputs"])
            owned = [learned for n, (_, learned) in self.tensors.items()
                     if n.rpartition(".")[0] == self.owner(layer)]
            is_learned[name] = before or any(owned)
            if name in reached:
                times += before * (2 - bool(owned)) + any(owned)
            whole += layer["flops"] * times
        return whole
