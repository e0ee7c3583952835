# python: torch
# expected: dataloader-workers [also accepted: input-bound]
# verdict: slow
# seconds: 30
# where: num_workers=cfg.workers / DataLoader(
# Why: a config from a 64-core server asks for 16 workers on two cores; an epoch is 40 cheap batches from memory, so forking and
#   ending 16 processes at every epoch costs more than the epoch.
"""Leaf spot detection on 40x40 patches (8 diseases)."""
import argparse
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=100000)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--lr", type=float, default=1e-3)
    return p.parse_args()


class LeafPatches(Dataset):
    def __init__(self, count=1280, seed=4):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 8, count)
        self.patches = rng.integers(60, 140, (count, 3, 40, 40)).astype(np.uint8)
        yy, xx = np.mgrid[0:40, 0:40]
        for k, label in enumerate(self.labels):
            cy, cx = rng.integers(10, 30, 2)
            spot = (yy - cy) ** 2 + (xx - cx) ** 2 < (3 + label) ** 2
            self.patches[k, label % 3][spot] = 190 + 5 * label

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        x = torch.from_numpy(self.patches[i]).float().div_(255.0)
        if torch.rand(1).item() < 0.5:
            x = x.flip(-1)
        return x, int(self.labels[i])


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 12, 3, stride=2, padding=1)
        self.c2 = nn.Conv2d(12, 24, 3, stride=2, padding=1)
        self.fc = nn.Linear(24 * 10 * 10, 8)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        return self.fc(x.flatten(1))


def main():
    cfg = parse()
    torch.manual_seed(0)
    data = LeafPatches()
    loader = DataLoader(data, batch_size=cfg.batch, shuffle=True, num_workers=cfg.workers)
    net = LeafNet()
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    began = time.time()
    for epoch in range(cfg.epochs):
        seen = right = 0
        running = 0.0
        for x, y in loader:
            opt.zero_grad()
            out = net(x)
            loss = F.cross_entropy(out, y)
            loss.backward()
            opt.step()
            running += loss.item() * len(y)
            right += (out.argmax(1) == y).sum().item()
            seen += len(y)
        print(f"epoch {epoch:4d}  loss {running / seen:.4f}  acc {right / seen:.3f}  [{time.time() - began:.1f}s]", flush=True)


if __name__ == "__main__":
    main()
