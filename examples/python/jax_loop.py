"""A loop of JAX, measured. JAX computes in the background: the wrapper is told
what to wait for before each look at the clock (`sync`).

    python3 jax_loop.py"""

import jax
import jax.numpy as jnp
import numpy as np

import prony


def batches():
    rng = np.random.default_rng(1)
    while True:
        yield (rng.standard_normal((64, 100), np.float32),
               rng.standard_normal((64, 1), np.float32))


class Data:
    def __iter__(self):
        return batches()


@jax.jit
def step(weights, x, y):
    loss, gradient = jax.value_and_grad(
        lambda w: jnp.mean((x @ w - y) ** 2))(weights)
    return weights - .01 * gradient, loss


def main():
    state = [jnp.zeros((100, 1)), None]
    loader = prony.wrap(Data(), batch_size=64,
                        sync=lambda: jax.block_until_ready(state[0]))
    for x, y in loader:
        state[0], state[1] = step(state[0], x, y)
    print("loss %.3f; %s" % (state[1], loader.verdict["bound"]))


if __name__ == "__main__":
    main()
