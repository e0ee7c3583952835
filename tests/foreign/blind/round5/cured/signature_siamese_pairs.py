# python: loops
# expected: nan-loss
# verdict: healthy|slow
# seconds: 25
# env: OMP_WAIT_POLICY=PASSIVE
# where: torch.sqrt / clamp(min=0)
# Why: A pair may hold the same signature twice; the square root of a distance of zero has an infinite gradient, and after that everything is NaN.
import logging
import sys

import numpy as np
import torch
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(asctime)s %(message)s")


class Signatures:
    def __init__(self, writers=90, each=30, size=40, seed=8):
        rng = np.random.default_rng(seed)
        t = np.linspace(0, 1, 300)
        freq = rng.uniform(1, 6, (writers, 2, 4))
        phase = rng.uniform(0, 6.28, (writers, 2, 4))
        self.images = np.zeros((writers, each, 1, size, size), np.float32)
        for w in range(writers):
            for k in range(each):
                f, p = freq[w] + rng.normal(0, 0.06, (2, 4)), phase[w] + rng.normal(0, 0.15, (2, 4))
                xy = np.sin(6.28 * f[:, :, None] * t + p[:, :, None]).sum(1) / 4
                pix = ((xy + 1) / 2 * (size - 1)).astype(int)
                self.images[w, k, 0, pix[1], pix[0]] = 1.0
        self.rng, self.writers, self.each = rng, writers, each

    def pairs(self, n):
        same = self.rng.random(n) < 0.5
        w1 = self.rng.integers(0, self.writers, n)
        w2 = np.where(same, w1, (w1 + self.rng.integers(1, self.writers, n)) % self.writers)
        k1, k2 = self.rng.integers(0, self.each, (2, n))
        return (torch.from_numpy(self.images[w1, k1]), torch.from_numpy(self.images[w2, k2]),
                torch.from_numpy((w1 == w2).astype(np.float32)))


class Embedder(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(32 * 10 * 10, 128), nn.ReLU(), nn.Linear(128, dim))

    def forward(self, x):
        return self.net(x)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, same):
        d = torch.sqrt(((a - b) ** 2).sum(dim=1) + 1e-9)
        near = same * d ** 2
        far = (1 - same) * (self.margin - d).clamp(min=0) ** 2
        return (near + far).mean(), d


data = Signatures()
model, criterion = Embedder(), ContrastiveLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
seen_loss, seen_gap = [], []
for step in range(1, 100_001):
    a, b, same = data.pairs(4)
    loss, dist = criterion(model(a), model(b), same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seen_loss.append(loss.item())
    if step % 50 == 0:
        logging.info("step=%d contrastive=%.4f mean distance=%.3f", step, float(np.mean(seen_loss)), dist.mean().item())
        seen_loss.clear()
