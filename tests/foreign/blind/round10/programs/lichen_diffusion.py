# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the loss of a denoiser falls fast and then only trembles (every batch has other noise levels), one worker draws textures without
# end, and now and then the program samples for a second in a Python loop. The worker keeps up; nothing is wrong.
"""Denoising diffusion of lichen-like textures, with an averaged copy of the weights."""
import copy
import itertools
import logging
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
LEVELS, SIDE = 100, 24
BETA = torch.linspace(1e-3, 0.08, LEVELS)
KEPT = torch.cumprod(1 - BETA, 0)


class Lichen(IterableDataset):
    """Endless smooth spots with a hard edge."""

    def __init__(self, batch):
        self.batch = batch

    def __iter__(self):
        while True:
            spots = F.interpolate(torch.randn(self.batch, 1, 5, 5), size=SIDE, mode="bicubic", align_corners=True)
            yield torch.tanh(4 * spots)


class Denoiser(nn.Module):
    def __init__(self, c=32):
        super().__init__()
        self.level = nn.Sequential(nn.Linear(16, 64), nn.SiLU(), nn.Linear(64, 2 * c))
        self.enter = nn.Conv2d(1, c, 3, padding=1)
        self.down = nn.Conv2d(c, 2 * c, 3, stride=2, padding=1)
        self.middle = nn.Conv2d(2 * c, 2 * c, 3, padding=1)
        self.up = nn.ConvTranspose2d(2 * c, c, 4, stride=2, padding=1)
        self.leave = nn.Conv2d(2 * c, 1, 3, padding=1)
        self.norm = nn.GroupNorm(8, 2 * c)

    def forward(self, x, t):
        rate = torch.exp(-torch.arange(8) * math.log(100) / 8)
        angle = t[:, None].float() * rate
        e = self.level(torch.cat([angle.sin(), angle.cos()], 1))[:, :, None, None]
        a = F.silu(self.enter(x))
        b = F.silu(self.down(a) + e)
        b = b + F.silu(self.norm(self.middle(b)))
        return self.leave(torch.cat([a, F.silu(self.up(b))], 1))


@torch.no_grad()
def sample(net, n):
    x = torch.randn(n, 1, SIDE, SIDE)
    for t in reversed(range(LEVELS)):
        noise = net(x, torch.full((n,), t))
        x = (x - BETA[t] / (1 - KEPT[t]).sqrt() * noise) / (1 - BETA[t]).sqrt()
        if t:
            x = x + BETA[t].sqrt() * torch.randn_like(x)
    return x


def main():
    torch.manual_seed(12)
    batches = DataLoader(Lichen(32), batch_size=None, num_workers=1, prefetch_factor=4)
    net = Denoiser()
    average = copy.deepcopy(net).requires_grad_(False)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    recent = []
    for step, clean in enumerate(itertools.islice(batches, 100_000), 1):
        t = torch.randint(0, LEVELS, (len(clean),))
        kept = KEPT[t].view(-1, 1, 1, 1)
        noise = torch.randn_like(clean)
        loss = F.mse_loss(net(kept.sqrt() * clean + (1 - kept).sqrt() * noise, t), noise)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        with torch.no_grad():
            for a, p in zip(average.parameters(), net.parameters()):
                a.lerp_(p, 0.01)
        recent = (recent + [loss.item()])[-50:]
        if step % 10 == 0:
            logging.info("step %d loss %.4f mean of the last %d %.4f", step, loss.item(), len(recent), sum(recent) / len(recent))
        if step % 250 == 0:
            drawn = sample(average, 4)
            logging.info("step %d samples: mean %.3f, spread %.3f", step, drawn.mean().item(), drawn.std().item())


if __name__ == "__main__":
    main()
