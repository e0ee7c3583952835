# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: small parts of a batch with accumulated gradients, a list of losses that grows by a number a step, a ring of positions filled
# while it trains, a slow copy of the weights: all of it cheap, bounded and meant so.
"""Learns the value of board positions; positions go through a ring, gradients are summed over four parts."""
import collections
import copy
import time

import numpy as np
import torch
from torch import nn

BOARD, PARTS, PART, RING = 9, 4, 64, 20000
PATTERN = np.random.default_rng(77).normal(size=(2, BOARD, BOARD)).astype("float32")


class Ring:
    def __init__(self):
        self.boards = np.zeros((RING, 2, BOARD, BOARD), "float32")
        self.values = np.zeros((RING, 1), "float32")
        self.place = 0

    def add(self, boards, values):
        rows = (self.place + np.arange(len(boards))) % RING
        self.boards[rows], self.values[rows] = boards, values
        self.place = (self.place + len(boards)) % RING

    def sample(self, count, rng):
        rows = rng.integers(0, RING, count)
        return torch.from_numpy(self.boards[rows]), torch.from_numpy(self.values[rows])


def play(count, rng):
    stones = rng.integers(0, 3, (count, BOARD, BOARD))
    boards = np.stack([stones == 1, stones == 2], axis=1).astype("float32")
    score = (boards * PATTERN).sum(axis=(1, 2, 3)) / 5 + rng.normal(0, 0.4, count)
    return boards, np.tanh(score)[:, None].astype("float32")


class ValueNet(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.first = nn.Linear(2 * BOARD * BOARD, width)
        self.middle = nn.ModuleList([nn.Linear(width, width) for _ in range(4)])
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(4)])
        self.value = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.relu(self.first(x.flatten(1)))
        for layer, norm in zip(self.middle, self.norms):
            x = x + torch.relu(layer(norm(x)))
        return torch.tanh(self.value(x))


def main():
    torch.manual_seed(1)
    rng = np.random.default_rng(2)
    ring = Ring()
    for _ in range(RING // 1000):
        ring.add(*play(1000, rng))
    net = ValueNet()
    slow = copy.deepcopy(net).requires_grad_(False)
    optimizer = torch.optim.AdamW(net.parameters(), lr=5e-4, weight_decay=1e-3)
    losses, recent, began = [], collections.deque(maxlen=20), time.time()
    for step in range(1, 40001):
        ring.add(*play(64, rng))
        optimizer.zero_grad()
        total = 0.0
        for _ in range(PARTS):
            boards, values = ring.sample(PART, rng)
            loss = nn.functional.mse_loss(net(boards), values) / PARTS
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            for mine, theirs in zip(slow.parameters(), net.parameters()):
                mine.lerp_(theirs, 0.01)
        losses.append(total)
        recent.append(total)
        if step % 20 == 0:
            print(f"step {step} | loss {total:.4f} | recent {sum(recent) / len(recent):.4f} | best {min(losses):.4f} "
                  f"| {time.time() - began:.1f} s")


if __name__ == "__main__":
    main()
