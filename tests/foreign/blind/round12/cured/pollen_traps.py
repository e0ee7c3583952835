"""Pollen concentration from the pulses of an optical trap: a 1-D convolutional regressor on a small data set."""
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pulses(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        t = np.arange(256) / 256
        self.count = rng.integers(1, 12, n)
        self.signal = rng.normal(0, 0.1, (n, 256)).astype(np.float32)
        for i, k in enumerate(self.count):
            for centre, width in zip(rng.uniform(0.05, 0.95, k), rng.uniform(0.004, 0.015, k)):
                self.signal[i] += np.exp(-((t - centre) / width) ** 2)

    def __len__(self):
        return len(self.count)

    def __getitem__(self, i):
        signal = self.signal[i]
        if np.random.rand() < 0.5:
            signal = signal[::-1].copy()
        return torch.from_numpy(signal)[None], torch.tensor([self.count[i] / 6 - 1], dtype=torch.float32)


class Block(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.conv = nn.Conv1d(a, b, 5, stride=2, padding=2)
        self.norm = nn.GroupNorm(4, b)
        self.skip = nn.Conv1d(a, b, 1, stride=2)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + self.skip(x))


class Trap(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(1, 16), Block(16, 32), Block(32, 64), Block(64, 64))
        self.out = nn.Linear(64, 1)

    def forward(self, x):
        return self.out(self.blocks(x).mean(2))


def main():
    torch.manual_seed(2)
    loader = DataLoader(Pulses(640, 0), batch_size=32, shuffle=True, num_workers=0)
    model = Trap()
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 3000)
    start, step = time.time(), 0
    for epoch in range(1, 3001):
        total = 0.0
        for signal, count in loader:
            loss = nn.functional.huber_loss(model(signal), count)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            step += 1
        schedule.step()
        print(f"epoch {epoch:4d}  step {step:6d}  loss {total / len(loader):.5f}  {time.time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
