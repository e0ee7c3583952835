"""A healthy training that uses every core: what neighbours.py puts others beside."""
import os

import torch
from torch import nn


def main():
    torch.set_num_threads(len(os.sched_getaffinity(0)))  # by itself it counts two threads of a core as one
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    digits, labels = torch.randn(16_384, 784), torch.randint(10, (16_384,))
    step = 0
    while True:
        for first in range(0, len(digits), 256):
            loss = nn.functional.cross_entropy(model(digits[first:first + 256]), labels[first:first + 256])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
