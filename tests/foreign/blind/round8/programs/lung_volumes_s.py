# python: torch
# expected: healthy
# verdict: healthy
# seconds: 35
# how: attach
# Why: One volume per step and a single loader worker, as is right for 3D scans: a step takes long, the worker keeps up easily.
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIDE = 40


class Scans(Dataset):
    def __init__(self, patients=400):
        self.patients = patients

    def __len__(self):
        return self.patients

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        scan = rng.normal(0, 0.4, (SIDE, SIDE, SIDE)).astype(np.float32)
        z, y, x = np.ogrid[:SIDE, :SIDE, :SIDE]
        mask = np.zeros(scan.shape, np.float32)
        for _ in range(rng.integers(1, 4)):
            c = rng.integers(8, SIDE - 8, 3)
            r = rng.integers(3, 7)
            mask[(z - c[0]) ** 2 + (y - c[1]) ** 2 + (x - c[2]) ** 2 < r * r] = 1
        return torch.from_numpy(scan + mask)[None], torch.from_numpy(mask)[None]


class Block(nn.Sequential):
    def __init__(self, i, o):
        super().__init__(nn.Conv3d(i, o, 3, padding=1), nn.InstanceNorm3d(o), nn.ReLU())


class SmallVNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.top = Block(1, c)
        self.mid = Block(c, 2 * c)
        self.deep = Block(2 * c, 2 * c)
        self.join = Block(3 * c, c)
        self.out = nn.Conv3d(c, 1, 1)

    def forward(self, x):
        top = self.top(x)
        deep = self.deep(self.mid(F.max_pool3d(top, 2)))
        deep = F.interpolate(deep, scale_factor=2, mode="nearest")
        return self.out(self.join(torch.cat([top, deep], 1)))


def dice(logits, mask):
    p = torch.sigmoid(logits)
    return 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)


def train(epochs=100):
    torch.manual_seed(0)
    net = SmallVNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    loader = DataLoader(Scans(), batch_size=1, shuffle=True, num_workers=1)
    for epoch in range(epochs):
        tick = time.time()
        for i, (scan, mask) in enumerate(loader, 1):
            logits = net(scan)
            loss = F.binary_cross_entropy_with_logits(logits, mask) + dice(logits, mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if i % 5 == 0:
                print(f"epoch {epoch + 1} scan {i}/{len(loader)} loss {loss.item():.4f} "
                      f"{(time.time() - tick) / 5 * 1000:.0f} ms/scan", flush=True)
                tick = time.time()


if __name__ == "__main__":
    train()
