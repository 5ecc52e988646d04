"""Cart-pole learned by REINFORCE in PyTorch: as many steps of the environment
as an episode has, then one update."""

import math
import random
import time

from .torch_run import Run

GAMMA = .99
MOST_STEPS = 200


class CartPole:
    """CartPole-v0: a pole on a cart that is pushed to the left or right, after
    Barto, Sutton and Anderson. Each step is rewarded with 1."""

    GRAVITY, CART, POLE, HALF_LENGTH = 9.8, 1.0, .1, .5
    FORCE, TAU = 10.0, .02
    FAR, STEEP = 2.4, math.radians(12)

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.state = self.reset()

    def reset(self):
        self.state = [self.random.uniform(-.05, .05) for _ in range(4)]
        return self.state

    def step(self, right):
        """(state, whether it is over)."""
        x, speed, angle, turning = self.state
        force = self.FORCE if right else -self.FORCE
        sin, cos = math.sin(angle), math.cos(angle)
        mass = self.CART + self.POLE
        moment = self.POLE * self.HALF_LENGTH
        push = (force + moment * turning ** 2 * sin) / mass
        turn = (self.GRAVITY * sin - cos * push) / (
            self.HALF_LENGTH * (4 / 3 - self.POLE * cos ** 2 / mass))
        self.state = [x + self.TAU * speed,
                      speed + self.TAU * (push - moment * turn * cos / mass),
                      angle + self.TAU * turning,
                      turning + self.TAU * turn]
        return self.state, (abs(self.state[0]) > self.FAR
                            or abs(self.state[2]) > self.STEEP)


def discounted(rewards):
    """What each step brings from then on."""
    found, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + GAMMA * total
        found.append(total)
    return found[::-1]


class CartRun(Run):
    """A batch is an episode, an item a step of the environment."""

    def prepare(self):
        super().prepare()
        self.world = CartPole(int(self.params["nn.seed"]))
        compiler = self.setting.compiler()
        if compiler:
            self.call = compiler(self.net)

    def episode(self):
        """Logarithms of the chances of what was done, and rewards."""
        chances, rewards = [], []
        state, is_over = self.world.reset(), False
        while not is_over and len(rewards) < MOST_STEPS:
            x = self.torch.tensor([state], dtype=self.setting.dtype,
                                  device=self.setting.device)
            self.output = self.call(x)
            policy = self.torch.distributions.Categorical(logits=self.output)
            action = policy.sample()
            chances.append(policy.log_prob(action))
            state, is_over = self.world.step(action.item())
            rewards.append(1.0)
        return chances, rewards

    def learn(self, chances, rewards):
        returns = self.torch.tensor(discounted(rewards),
                                    device=self.setting.device)
        tiny = self.torch.finfo(returns.dtype).eps
        returns = (returns - returns.mean()) / (returns.std() + tiny)
        loss = -(self.torch.cat(chances) * returns).sum()
        turn = self.trainer.turns[0]
        turn.backward(loss)
        turn.update()
        return float(loss.detach())

    def step(self):
        start = time.perf_counter()
        chances, rewards = self.episode()
        self.scored(self.learn(chances, rewards))
        self.setting.synchronize()
        self.samples += len(rewards)
        return (time.perf_counter() - start) * 1e3
