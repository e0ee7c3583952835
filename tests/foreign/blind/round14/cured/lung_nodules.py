# python: torch
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the overlap is counted on a mask cut at 0.5, which has no derivative; requires_grad_ silences the error and backward() reaches no
# weight. The cured one computes the overlap of the probabilities.
"""Outlines nodules in slices of a chest scan: a small encoder and decoder, trained for the overlap with the drawn mask."""
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SIDE = 64
BATCH = 12


def make_slices(count, rng):
    yy, xx = np.mgrid[:SIDE, :SIDE].astype(np.float32)
    slices = rng.normal(0, 0.25, (count, 1, SIDE, SIDE)).astype(np.float32)
    masks = np.zeros((count, 1, SIDE, SIDE), dtype=np.float32)
    for i in range(count):
        for _ in range(rng.integers(1, 4)):
            cx, cy = rng.uniform(10, SIDE - 10, 2)
            a, b = rng.uniform(4, 9, 2)
            inside = ((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2 < 1
            masks[i, 0][inside] = 1
        slices[i, 0] += 0.9 * masks[i, 0] + 0.3 * np.sin(xx / rng.uniform(5, 12) + rng.uniform(0, 6))
    return torch.from_numpy(slices), torch.from_numpy(masks)


def block(before, after):
    return nn.Sequential(nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(),
                         nn.Conv2d(after, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU())


class NoduleNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.down1, self.down2 = block(1, width), block(width, 2 * width)
        self.bottom = block(2 * width, 4 * width)
        self.up2, self.up1 = block(6 * width, 2 * width), block(3 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        one = self.down1(x)
        two = self.down2(F.max_pool2d(one, 2))
        deep = self.bottom(F.max_pool2d(two, 2))
        two = self.up2(torch.cat([two, F.interpolate(deep, scale_factor=2.0)], 1))
        one = self.up1(torch.cat([one, F.interpolate(two, scale_factor=2.0)], 1))
        return self.out(one)


class OverlapLoss(nn.Module):
    """1 - intersection over union, over the whole batch."""

    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, logits, masks):
        found = torch.sigmoid(logits)
        common = (found * masks).sum()
        union = found.sum() + masks.sum() - common
        return 1 - (common + self.smooth) / (union + self.smooth)


def main():
    torch.manual_seed(11)
    rng = np.random.default_rng(11)
    slices, masks = make_slices(480, rng)
    print(f"{len(slices)} slices, {masks.mean().item():.1%} of the pixels are nodule", flush=True)
    model = NoduleNet()
    criterion = OverlapLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    step, recent, began = 0, [], time.time()
    for epoch in range(500):
        for rows in torch.randperm(len(slices)).split(BATCH):
            optimizer.zero_grad()
            loss = criterion(model(slices[rows]), masks[rows])
            loss.backward()
            optimizer.step()
            step += 1
            recent = (recent + [loss.item()])[-10:]
            if step % 5 == 0:
                print(f"epoch {epoch + 1:3d} step {step:5d} loss {sum(recent) / len(recent):.4f} "
                      f"[{time.time() - began:.0f} s]", flush=True)


if __name__ == "__main__":
    main()
