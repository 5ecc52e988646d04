"""Mistakes that native_vs_torch.py --mistakes makes on PyTorch's side, one at
a time: it has teeth if it finds each, whatever rounding is allowed to do."""
import copy

import numpy as np

OTHER_POOL = {"max_pool": "average_pool", "average_pool": "max_pool"}


def _ends(found):
    """The first and the last."""
    return [found[i] for i in sorted({0, len(found) - 1})] if found else []


def _with(spec, changes):
    """The spec with layers changed: name to what is new in it."""
    spec = copy.deepcopy(spec)
    for layer in spec["layers"]:
        layer.update(changes.get(layer["name"], {}))
    return spec


def mistakes(spec, weights):
    """(What is wrong, spec, weights), of those that this model can have."""
    layers = spec["layers"]
    for l in _ends([l for l in layers if l["op"] in OTHER_POOL]):
        yield "%s as %s" % (l["name"], OTHER_POOL[l["op"]]), _with(
            spec, {l["name"]: {"op": OTHER_POOL[l["op"]],
                               "count_pad": False}}), weights
    for l in _ends([l for l in layers if l["op"] == "average_pool"
                    and any(l["pad"])]):
        yield "%s counts other padding" % l["name"], _with(
            spec, {l["name"]: {"count_pad": not l["count_pad"]}}), weights
    for name in _ends([n for n in weights if n.endswith(".bias")]):
        yield "no %s" % name, spec, {
            **weights, name: np.zeros_like(weights[name])}
    norms = [l for l in layers if l["op"] == "batch_norm"]
    for these in [[l] for l in _ends(norms)] + [norms] * bool(norms):
        whose = these[0]["name"] if len(these) == 1 else "all norms"
        other = 1e-5 if these[0]["epsilon"] > 1e-4 else 1e-3
        yield "epsilon %g of %s" % (other, whose), _with(
            spec, {l["name"]: {"epsilon": other} for l in these}), weights
        yield "momentum of %s" % whose, _with(
            spec, {l["name"]: {"momentum": 1 - l["momentum"]}
                   for l in these}), weights
