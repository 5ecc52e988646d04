"""What holds a loop back, its data or its computing? Any iterable of batches,
no framework: `prony.wrap` around it, and nothing else changes.

    python3 wrap.py"""

import time

import prony


class Data:
    """Batches of 32 samples; getting one takes 2 ms."""

    def __iter__(self):
        for i in range(100):
            time.sleep(.002)
            yield [i] * 32


def step(batch):
    time.sleep(.001)  # stands for computing


if __name__ == "__main__":
    loader = prony.wrap(Data(), batch_size=32)
    for batch in loader:
        step(batch)
    print(loader.verdict["text"])
