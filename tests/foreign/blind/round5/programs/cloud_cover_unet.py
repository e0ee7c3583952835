# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# how: attach
# Why: One worker is enough for this network, checkpoints come every 100 steps and are small, and a line is printed every 20 steps.
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    def __init__(self, n=4000, size=64):
        self.n, self.size = n, size

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        coarse = torch.from_numpy(rng.normal(0, 1, (1, 1, 7, 7)).astype(np.float32))
        field = F.interpolate(coarse, size=self.size, mode="bicubic", align_corners=False)[0]
        cloud = (field > 0.35).float()
        bands = torch.cat([field * 0.1 + cloud * k for k in (0.8, 0.6, 0.3)])
        bands += torch.from_numpy(rng.normal(0, 0.3, bands.shape).astype(np.float32))
        return bands, cloud


def conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
                         nn.Conv2d(cout, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.d1, self.d2, self.mid = conv(3, c), conv(c, 2 * c), conv(2 * c, 4 * c)
        self.u2, self.u1 = conv(6 * c, 2 * c), conv(3 * c, c)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        y = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        y = self.u1(torch.cat([F.interpolate(y, scale_factor=2), a], 1))
        return self.out(y)


def main():
    torch.manual_seed(2)
    folder = tempfile.mkdtemp()
    loader = DataLoader(Scenes(), batch_size=16, shuffle=True, num_workers=1, persistent_workers=True)
    net = UNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    step, tick = 0, time.time()
    for epoch in range(100):
        for x, y in loader:
            loss = F.binary_cross_entropy_with_logits(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 20 == 0:
                print(f"epoch {epoch} step {step} bce {loss.item():.4f} {20 / (time.time() - tick):.2f} steps/s", flush=True)
                tick = time.time()
            if step % 100 == 0:
                path = os.path.join(folder, "unet.pt")
                torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "step": step}, path + ".part")
                os.replace(path + ".part", path)


if __name__ == "__main__":
    main()
