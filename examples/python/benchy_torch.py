"""A training with PyTorch whose loader is benchy's: run it, and after nine
epochs it says how fast data and computing are alone and together.

    BENCHY_CONFIG_FILE=benchy.yaml python3 benchy_torch.py"""

import torch
from torch import nn

from benchy.torch import BenchmarkDataLoader


def main():
    data = torch.utils.data.TensorDataset(torch.randn(4096, 64),
                                          torch.randint(10, (4096,)))
    loader = BenchmarkDataLoader(data, batch_size=64, shuffle=True,
                                 num_workers=2)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    optimiser = torch.optim.SGD(model.parameters(), lr=.1)
    loss_of = nn.CrossEntropyLoss()
    for epoch in range(9):
        for x, y in loader:
            optimiser.zero_grad()
            loss_of(model(x), y).backward()
            optimiser.step()


if __name__ == "__main__":
    main()
