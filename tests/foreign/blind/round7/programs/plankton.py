# python: torch
# expected: per-pixel-python [also accepted: input-bound]
# verdict: slow
# seconds: 30
# where: for row in range / for col in range / r = rng.random() / if r <
# Why: The augmentation visits every pixel in a Python loop; two workers cannot make batches as fast as the small network eats them.
import argparse
import random
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class PlanktonScans(Dataset):
    """Grey scans of single organisms, 6 genera, drawn as ellipses with spines."""

    def __init__(self, count, size=96, train=True):
        rng = np.random.default_rng(11)
        yy, xx = np.mgrid[0:size, 0:size].astype(np.float32) / size - 0.5
        self.labels = rng.integers(0, 6, count)
        self.scans = np.empty((count, size, size), np.uint8)
        for i, label in enumerate(self.labels):
            a = rng.uniform(0, np.pi)
            u, v = xx * np.cos(a) + yy * np.sin(a), yy * np.cos(a) - xx * np.sin(a)
            body = (u * (2 + 0.7 * label)) ** 2 + (v * 4) ** 2 < 0.5
            self.scans[i] = 40 + 150 * body + 20 * np.abs(np.sin(12 * (1 + label) * u))
        self.train = train

    def __len__(self):
        return len(self.labels)

    def add_dust(self, img, rng):
        out = img.copy()
        height, width = out.shape
        for row in range(height):
            for col in range(width):
                r = rng.random()
                if r < 0.01:
                    out[row, col] = 255
                elif r < 0.02:
                    out[row, col] = 0
        return out

    def __getitem__(self, i):
        img = self.scans[i]
        if self.train:
            if random.random() < 0.5:
                img = img[:, ::-1]
            img = self.add_dust(img, random)
        x = torch.from_numpy(np.ascontiguousarray(img)).float().div(255).unsqueeze(0)
        return x, int(self.labels[i])


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 5, stride=4)
        self.c2 = nn.Conv2d(8, 16, 3, stride=2)
        self.fc = nn.Linear(16 * 11 * 11, 6)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        return self.fc(x.flatten(1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=500)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()

    torch.manual_seed(1)
    data = PlanktonScans(4096)
    loader = DataLoader(data, args.batch_size, shuffle=True, num_workers=2, drop_last=True)
    net = SmallNet()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    seen, t0 = 0, time.time()
    for epoch in range(args.epochs):
        for i, (x, y) in enumerate(loader):
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen += len(x)
            if i % 4 == 0:
                print(f"Train Epoch: {epoch} [{i * args.batch_size}/{len(data)}]\tLoss: {loss.item():.6f}"
                      f"\tseen {seen}\t{seen / (time.time() - t0):.0f} img/s", flush=True)


if __name__ == "__main__":
    main()
