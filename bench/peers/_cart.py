"""Episodes of the cart-pole in PyTorch for a contender: played as in PyTorch's
example, step by step with a graph for each; or without gradients, and learned
from as one batch."""

import math
import random
import types

import torch

from prony.backends.torch_cart import (MOST_STEPS, CartPole, CartRun,
                                       discounted)


class Plain(CartRun):
    """The back-end's own episodes, without what a run has around them."""

    def __init__(self, trainer, call):
        self.torch, self.trainer, self.call = torch, trainer, call
        self.world = CartPole(1)
        self.setting = types.SimpleNamespace(dtype=torch.float32,
                                             device=torch.device("cpu"))

    def step(self):
        chances, rewards = self.episode()
        self.learn(chances, rewards)
        return len(rewards)


class Batched(Plain):
    """Nothing is kept of playing but what was seen and done."""

    def play(self):
        seen, done = [], []
        state, is_over = self.world.reset(), False
        with torch.inference_mode():
            while not is_over and len(done) < MOST_STEPS:
                left, right = self.call(torch.tensor([state]))[0].tolist()
                seen.append(state)
                chance = 1 / (1 + math.exp(left - right))
                done.append(int(random.random() < chance))
                state, is_over = self.world.step(done[-1])
        return seen, done

    def step(self):
        seen, done = self.play()
        returns = torch.tensor(discounted([1.0] * len(done)))
        tiny = torch.finfo(returns.dtype).eps
        returns = (returns - returns.mean()) / (returns.std() + tiny)
        losses = torch.nn.functional.cross_entropy(
            self.call(torch.tensor(seen)), torch.tensor(done),
            reduction="none")
        loss = losses @ returns
        turn = self.trainer.turns[0]
        turn.backward(loss)
        turn.update()
        float(loss)
        return len(done)


def episodes(trainer, batched, call):
    return (Batched if batched else Plain)(trainer, call).step
