"""Seconds that layers take in PyTorch, by hooks."""

import time


class Profile:
    """A layer's backward lasts until that of another one begins."""

    def __init__(self, net, setting):
        self.net, self.synchronize = net, setting.synchronize
        self.running, self.began = None, 0.0
        self.forget()
        for i, op in enumerate(net.ops):
            if net.layers[i]["op"] != "input":
                op.register_forward_pre_hook(self._before)
                op.register_forward_hook(
                    lambda op, _, out, i=i: self._after(i, out))

    def forget(self):
        n = len(self.net.ops)
        self.forward, self.backward, self.update = [0.0] * n, [0.0] * n, 0.0

    def _before(self, _op, _inputs):
        self.synchronize()
        self.began = time.perf_counter()

    def _after(self, i, out):
        self.synchronize()
        self.forward[i] += time.perf_counter() - self.began
        if out.requires_grad:
            out.register_hook(lambda _grad: self._enter(i))

    def _enter(self, i):
        """The backward of a layer begins; None: all have ended."""
        self.synchronize()
        now = time.perf_counter()
        if self.running is not None:
            self.backward[self.running] += now - self.began
        self.running, self.began = i, now

    def on_backward(self):
        self._enter(None)

    def on_update(self):
        self.synchronize()
        self.update += time.perf_counter() - self.began

    def rows(self, steps, batch, optimizer):
        """As the native engine has them; the update of all layers is one.
        optimizer: its name, or None."""
        rows = [{"layer": layer["name"], "op": layer["op"],
                 "forward_ms": self.forward[i] / steps * 1e3,
                 "backward_ms": self.backward[i] / steps * 1e3,
                 "update_ms": 0.0} for i, layer in enumerate(self.net.layers)]
        for row, flops in zip(rows, self.net.layer_flops(optimizer)):
            took = row["forward_ms"] + row["backward_ms"]
            if flops and took:
                row["gflop_per_s"] = flops * batch / 1e6 / took
        # Inputs, and what only training needs, do nothing.
        rows = [row for row in rows if row["forward_ms"]]
        if optimizer:
            rows.append({"layer": "update", "op": optimizer,
                         "forward_ms": 0.0, "backward_ms": 0.0,
                         "update_ms": self.update / steps * 1e3})
        whole = sum(r["forward_ms"] + r["backward_ms"] + r["update_ms"]
                    for r in rows)
        for row in rows:
            row["time_share"] = (row["forward_ms"] + row["backward_ms"]
                                 + row["update_ms"]) / whole
        return rows
