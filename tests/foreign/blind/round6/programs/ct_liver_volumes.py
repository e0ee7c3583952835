# python: torch
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: one 3D volume per step: that is as much as anyone takes, a step lasts a good part of a second and the Dice loss jumps from
#   volume to volume.
"""Liver segmentation in CT volumes, one patient per step."""
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPE = (32, 56, 56)


def patient(rng):
    z, y, x = np.ogrid[:SHAPE[0], :SHAPE[1], :SHAPE[2]]
    centre = [rng.uniform(0.35, 0.65) * s for s in SHAPE]
    radius = [rng.uniform(0.10, 0.30) * s for s in SHAPE]
    liver = sum(((a - c) / r) ** 2 for a, c, r in zip((z, y, x), centre, radius)) < 1
    ct = rng.normal(0, 0.35, SHAPE).astype(np.float32) + 0.6 * liver + 0.2 * np.cos(x / 9.0)
    return torch.from_numpy(ct.astype(np.float32))[None, None], torch.from_numpy(liver.astype(np.float32))[None, None]


class Double(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.a, self.b = nn.Conv3d(i, o, 3, padding=1), nn.Conv3d(o, o, 3, padding=1)
        self.na, self.nb = nn.InstanceNorm3d(o, affine=True), nn.InstanceNorm3d(o, affine=True)

    def forward(self, x):
        x = F.leaky_relu(self.na(self.a(x)), 0.01)
        return F.leaky_relu(self.nb(self.b(x)), 0.01)


class VNet(nn.Module):
    def __init__(self, c=10):
        super().__init__()
        self.one, self.two, self.three = Double(1, c), Double(c, 2 * c), Double(2 * c, 4 * c)
        self.back2, self.back1 = Double(6 * c, 2 * c), Double(3 * c, c)
        self.out = nn.Conv3d(c, 1, 1)

    def forward(self, x):
        a = self.one(x)
        b = self.two(F.max_pool3d(a, 2))
        c = self.three(F.max_pool3d(b, 2))
        b = self.back2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.back1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.out(a)


def dice_loss(logits, truth):
    p = torch.sigmoid(logits)
    return 1 - (2 * (p * truth).sum() + 1) / (p.sum() + truth.sum() + 1)


def main():
    torch.manual_seed(6)
    rng = np.random.default_rng(6)
    patients = [patient(rng) for _ in range(24)]
    net = VNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.95, nesterov=True)
    step, t0 = 0, time.time()
    for epoch in range(10000):
        for k in rng.permutation(len(patients)):
            ct, liver = patients[k]
            if rng.random() < 0.5:
                ct, liver = ct.flip(-1), liver.flip(-1)
            out = net(ct)
            loss = dice_loss(out, liver) + F.binary_cross_entropy_with_logits(out, liver)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            print(f"epoch {epoch} patient {k:2d} step {step} loss {loss.item():.4f} ({time.time() - t0:.0f}s)", flush=True)


if __name__ == "__main__":
    main()
