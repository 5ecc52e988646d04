"""Losses of a model in PyTorch."""

import torch
from torch.nn import functional as F

from ..results import BAD_FILE, Refusal


class Loss:
    """What is to become small: called with the values of layers by their
    number."""

    def __init__(self, spec, net):
        if spec["kind"] not in KINDS:
            raise Refusal(BAD_FILE, "loss '%s': unknown kind '%s'"
                          % (spec["name"], spec["kind"]))
        self.name, self.spec = spec["name"], spec
        self.turn = spec.get("turn", 0)
        self.compute = KINDS[spec["kind"]]
        self.reduction = spec.get("reduce") or "mean"
        self.factor = spec.get("factor", 1)
        self.of = [net.number[n] for n in spec["of"]]
        target = spec.get("target")
        self.value = target if isinstance(target, (int, float)) else None
        self.targets = [net.number[n] for n in target] \
            if isinstance(target, list) else []
        self.weights, self.lengths = (
            net.number[spec[k]] if spec.get(k) else None
            for k in ("weights", "lengths"))
        self.takes = self.of + self.targets + [
            n for n in (self.weights, self.lengths) if n is not None]

    def __call__(self, values):
        of = [_precise(values[n]) for n in self.of]
        targets = [values[n].detach() for n in self.targets]
        loss = self.compute(self, of, targets, values)
        return loss if self.factor == 1 else loss * self.factor

    def row_weights(self, values):
        return None if self.weights is None else values[self.weights].flatten()


def _precise(x):
    """Losses of half precision are computed in float32."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _cross_entropy(loss, of, targets, values):
    ignore = loss.spec.get("ignore")
    ignore = -100 if ignore is None else ignore
    rows, ids = of[0].flatten(0, -2), targets[0].flatten()
    how = {"ignore_index": ignore,
           "label_smoothing": loss.spec.get("smoothing") or 0.0}
    weights = loss.row_weights(values)
    if weights is None:
        return F.cross_entropy(rows, ids, reduction=loss.reduction, **how)
    weights = weights * (ids != ignore)
    total = F.cross_entropy(rows, ids, reduction="none", **how) @ weights
    return total if loss.reduction == "sum" else total / weights.sum()


def _numbers(function, **how):
    """A loss of each number by itself."""
    def compute(loss, of, targets, values):
        x = of[0]
        y = (targets[0].to(x.dtype).view_as(x) if targets
             else x.new_full((), loss.value).expand_as(x))
        more = {name: loss.spec.get(key) or default
                for name, (key, default) in how.items()}
        weights = loss.row_weights(values)
        if weights is None:
            return function(x, y, reduction=loss.reduction, **more)
        each = function(x, y, reduction="none", **more).flatten(0, -2)
        each = each * weights.unsqueeze(1)
        return each.sum() if loss.reduction == "sum" else each.mean()
    return compute


def _kl(_loss, of, _targets, _values):
    mean, log_variance = of
    return -.5 * torch.sum(1 + log_variance - mean.square()
                           - log_variance.exp())


def _ctc(loss, of, targets, values):
    """Class 0 is blank; what does not fit into the rows counts 0."""
    rows = of[0].log_softmax(-1).transpose(0, 1)
    lengths = values[loss.lengths].flatten()
    return F.ctc_loss(rows, targets[0],
                      torch.full_like(lengths, rows.shape[0]), lengths,
                      reduction=loss.reduction, zero_infinity=True)


def _multibox(_loss, of, targets, _values):
    """SSD's: boxes with a class, and three times as many of the others, those
    with the largest loss. Samples without a box count 0."""
    places, logits = of
    wanted, ids = targets
    found = ids > 0
    count = found.sum(1)
    place = F.smooth_l1_loss(places, wanted.to(places.dtype),
                             reduction="none").sum(1)
    kind = F.cross_entropy(logits, ids, reduction="none")
    others = kind.detach().masked_fill(found, -1)
    order = others.argsort(1, descending=True)
    rank = torch.empty_like(order).scatter_(
        1, order, torch.arange(ids.shape[1], device=ids.device)
        .expand_as(order))
    chosen = found | (rank < 3 * count.unsqueeze(1))
    total = (place * found + kind * chosen).sum(1)
    return (total * (count > 0) / count.clamp(min=1)).mean()


KINDS = {
    "cross_entropy": _cross_entropy,
    "mse": _numbers(F.mse_loss),
    "bce": _numbers(F.binary_cross_entropy_with_logits),
    "smooth_l1": _numbers(F.smooth_l1_loss, beta=("beta", 1.0)),
    "kl": _kl,
    "ctc": _ctc,
    "multibox": _multibox,
}
