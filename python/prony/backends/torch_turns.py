"""A training step: forward, losses, backward and update, turn after turn."""

import contextlib

import torch

from .torch_net import Part


def may_be_sparse(said, keep_gradients=False):
    """Whether nothing needs the dense gradient of an embedding."""
    return not (keep_gradients or said.get("clip") or said["weight_decay"]
                or (said["name"] == "sgd" and said["momentum"]))


def make_optimizers(net, turn, said, **how):
    """Of one turn: one, and with Adam another for what is sparse."""
    sparse = {id(op.weight) for op in net.ops
              if isinstance(op, torch.nn.Embedding) and op.sparse}
    mine = net.turn_params(turn)
    common = {"lr": said["learning_rate"],
              "weight_decay": said["weight_decay"], **how}
    if said["name"] == "sgd":
        return [torch.optim.SGD(mine, momentum=said["momentum"], **common)]
    adam = {"betas": (said["beta1"], said["beta2"]), "eps": said["epsilon"]}
    found, rows = [], [p for p in mine if id(p) in sparse]
    if rows:
        found.append(torch.optim.SparseAdam(
            rows, lr=said["learning_rate"], **adam))
    if len(rows) < len(mine):
        found.append(torch.optim.Adam(
            [p for p in mine if id(p) not in sparse], **adam, **common))
    return found


class Turn:
    """What one network of several does in a step, or all of it."""

    def __init__(self, net, number, said, scaler=None, wrap=None, **how):
        self.number, self.clip = number, said.get("clip") or 0
        self.params = net.turn_params(number)
        self.optimizers = make_optimizers(net, number, said, **how)
        self.scaler = scaler
        self.parts = [(p.takes, p.gives, wrap(p) if wrap else p)
                      for p in self._parts(net, number)]
        self.is_only = net.turn_count == 1
        # Whether a later one goes back through the same values.
        self.retain = any(number in turns and max(turns) > number
                          for turns in net.learned_in)

    @staticmethod
    def _parts(net, turn):
        """Layers that gradients of other turns go through are apart: each part
        can be compiled, and is gone back through once."""
        groups = []
        for i, layer in enumerate(net.layers):
            if layer["op"] == "input" or layer.get("turn", 0) != turn:
                continue
            turns = net.learned_in[i]
            if not groups or turns and groups[-1][1] not in (turns, set()):
                groups.append([[], turns])
            groups[-1][0].append(i)
            groups[-1][1] = groups[-1][1] or turns
        last = groups.pop()[0] if groups else []
        return [Part(net, numbers) for numbers, _ in groups] + [
            Part(net, last, [l for l in net.losses if l.turn == turn])]

    def forward(self, held):
        """Adds to the values held; returns the losses."""
        for takes, gives, part in self.parts:
            given, losses = part(*[held[n] for n in takes])
            held.update(zip(gives, given))
        return losses

    def backward(self, loss):
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        if self.scaler:
            loss = self.scaler.scale(loss)
        if self.is_only:
            loss.backward()
        else:
            loss.backward(inputs=self.params, retain_graph=self.retain)

    def update(self):
        if self.clip:
            for optimizer in self.optimizers if self.scaler else ():
                self.scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(self.params, self.clip)
        for optimizer in self.optimizers:
            if self.scaler:
                self.scaler.step(optimizer)
            else:
                optimizer.step()


class Trainer:
    """Steps of a network. said: options of the optimiser, as the model has
    them. how: more for torch.optim's. wrap: torch.compile. autocast: gives
    the context in which values are computed."""

    def __init__(self, net, said, scaler=None, wrap=None,
                 autocast=contextlib.nullcontext, **how):
        self.net, self.scaler, self.autocast = net, scaler, autocast
        self.turns = [Turn(net, t, said, scaler, wrap, **how)
                      for t in range(net.turn_count)]
        self.feeds = [(net.number[n], n) for n in net.feeds]
        self.loss_names = [loss.name for t in range(net.turn_count)
                           for loss in net.losses if loss.turn == t]
        self.on_backward = self.on_update = None

    def step(self, batch):
        """(The output, losses in the order of turns.) batch: a tensor for each
        input, by name."""
        held, found = {n: batch[name] for n, name in self.feeds}, []
        for turn in self.turns:
            with self.autocast():
                losses = turn.forward(held)
                total = sum(losses[1:], losses[0])
            turn.backward(total)
            if self.on_backward:
                self.on_backward()
            turn.update()
            if self.on_update:
                self.on_update()
            found += [loss.detach() for loss in losses]
            self._switch(turn, False)
        if self.scaler:
            self.scaler.update()
        for turn in self.turns:
            self._switch(turn, True)
        return held[self.net.output].detach(), found

    def _switch(self, turn, learns):
        """What had its turn is constant until the step ends."""
        if len(self.turns) > 1:
            for p in turn.params:
                p.requires_grad_(learns)
