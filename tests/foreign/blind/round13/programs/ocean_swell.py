# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the loss of a diffusion model falls fast at first, then crawls and jumps with the drawn noise levels; samples are
# drawn and a checkpoint is written once in a while, which costs little.
"""A small diffusion model of one-dimensional sea surface profiles (128 points)."""
import copy
import os
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

POINTS = 128
LEVELS = 200
BATCH = 48


def sea(count, generator):
    x = torch.linspace(0, 1, POINTS)
    height = torch.zeros(count, POINTS)
    direction = torch.rand(count, 1, generator=generator)
    for k in range(1, 13):
        amplitude = torch.randn(count, 1, generator=generator).abs() * k**1.5 * torch.exp(-0.5 * k * (0.6 + direction))
        phase = 6.2832 * torch.rand(count, 1, generator=generator)
        height += amplitude * torch.sin(6.2832 * k * x + phase)
    height = height + 0.15 * height.pow(2)  # sharper crests
    return ((height - height.mean()) / height.std()).clamp(-4, 4).unsqueeze(1)


class Level(nn.Module):
    """Convolution pair that is told the noise level."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.a = nn.Conv1d(inputs, outputs, 5, padding=2)
        self.b = nn.Conv1d(outputs, outputs, 5, padding=2)
        self.t = nn.Linear(64, outputs)
        self.norm = nn.GroupNorm(8, outputs)

    def forward(self, x, t):
        x = F.silu(self.a(x) + self.t(t).unsqueeze(2))
        return F.silu(self.norm(self.b(x)))


class Denoiser(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 64))
        self.down1, self.down2 = Level(1, width), Level(width, 2 * width)
        self.middle = Level(2 * width, 2 * width)
        self.up2, self.up1 = Level(4 * width, width), Level(2 * width, width)
        self.out = nn.Conv1d(width, 1, 1)
        self.register_buffer("rates", torch.exp(torch.linspace(0, 5, 16)))

    def forward(self, x, level):
        turned = level.float().unsqueeze(1) / LEVELS * self.rates
        t = self.time(torch.cat([turned.sin(), turned.cos()], 1))
        d1 = self.down1(x, t)
        d2 = self.down2(F.avg_pool1d(d1, 2), t)
        m = self.middle(F.avg_pool1d(d2, 2), t)
        u2 = self.up2(torch.cat([F.interpolate(m, scale_factor=2), d2], 1), t)
        u1 = self.up1(torch.cat([F.interpolate(u2, scale_factor=2), d1], 1), t)
        return self.out(u1)


class Diffusion:
    def __init__(self):
        beta = torch.linspace(1e-4, 0.04, LEVELS)
        self.alpha = 1 - beta
        self.bar = torch.cumprod(self.alpha, 0)

    def loss(self, net, x, generator):
        level = torch.randint(LEVELS, (len(x),), generator=generator)
        noise = torch.randn(x.shape, generator=generator)
        keep = self.bar[level].view(-1, 1, 1)
        return F.mse_loss(net(keep.sqrt() * x + (1 - keep).sqrt() * noise, level), noise)

    @torch.no_grad()
    def draw(self, net, count, stride=10):
        x = torch.randn(count, 1, POINTS)
        for level in range(LEVELS - 1, -1, -stride):
            noise = net(x, torch.full((count,), level))
            clean = ((x - (1 - self.bar[level]).sqrt() * noise) / self.bar[level].sqrt()).clamp(-4, 4)
            before = self.bar[level - stride] if level >= stride else torch.tensor(1.0)
            x = before.sqrt() * clean + (1 - before).sqrt() * noise
        return x


def main():
    torch.manual_seed(30)
    g = torch.Generator().manual_seed(30)
    profiles = sea(20000, g)
    net = Denoiser()
    shadow = copy.deepcopy(net)
    optimizer = torch.optim.AdamW(net.parameters(), lr=4e-4)
    diffusion = Diffusion()
    began = time.time()
    for it in range(1, 40001):
        batch = profiles[torch.randint(len(profiles), (BATCH,), generator=g)]
        loss = diffusion.loss(net, batch, g)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if it % 10 == 0:
            with torch.no_grad():
                for slow, fast in zip(shadow.parameters(), net.parameters()):
                    slow.lerp_(fast, 0.05)
            print(f"it {it:5d} loss {loss.item():.4f} {time.time() - began:.1f}s", flush=True)
        if it % 400 == 0:
            waves = diffusion.draw(shadow, 16)
            print(f"samples: std {waves.std().item():.3f} crest {waves.amax(2).mean().item():.2f}", flush=True)
            torch.save(shadow.state_dict(), os.path.join(tempfile.gettempdir(), "ocean_swell.pt"))


if __name__ == "__main__":
    main()
