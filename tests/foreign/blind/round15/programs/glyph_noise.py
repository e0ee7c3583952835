# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: a diffusion model: its loss falls quickly and then jumps up and down around a level because noise levels are drawn at random.
# The averaged copy of the weights is kept by a loop in Python that costs next to nothing.
"""Denoising diffusion on small glyphs (strokes on a 24x24 grid)."""
import copy
import math
import time

import torch
from torch import nn

SIZE, BATCH, LEVELS = 24, 48, 200


def glyphs(count, seed=0):
    random = torch.Generator().manual_seed(seed)
    y, x = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")
    images = torch.zeros(count, SIZE, SIZE)
    for _ in range(3):
        ax, ay, bx, by = (torch.rand(4, count, 1, 1, generator=random) * 1.6 - 0.8)
        dx, dy = bx - ax, by - ay
        along = (((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy + 1e-6)).clamp(0, 1)
        far = ((x - ax - along * dx) ** 2 + (y - ay - along * dy) ** 2).sqrt()
        images = torch.maximum(images, (1.5 - far * 9).clamp(0, 1))
    return images[:, None] * 2 - 1


class Denoiser(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(32, width), nn.SiLU(), nn.Linear(width, 2 * width))
        self.enter = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.Conv2d(width, 2 * width, 4, stride=2, padding=1)
        self.middle = nn.Sequential(nn.GroupNorm(8, 2 * width), nn.SiLU(), nn.Conv2d(2 * width, 2 * width, 3, padding=1),
                                    nn.GroupNorm(8, 2 * width), nn.SiLU(), nn.Conv2d(2 * width, 2 * width, 3, padding=1))
        self.up = nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1)
        self.leave = nn.Sequential(nn.GroupNorm(8, 2 * width), nn.SiLU(), nn.Conv2d(2 * width, 1, 3, padding=1))

    def forward(self, x, level):
        rate = torch.exp(-math.log(1000) * torch.arange(16) / 16)
        phase = level[:, None] * rate
        told = self.time(torch.cat([phase.sin(), phase.cos()], 1))[:, :, None, None]
        top = self.enter(x)
        low = self.down(top) + told
        low = low + self.middle(low)
        return self.leave(torch.cat([self.up(low), top], 1))


def main():
    torch.manual_seed(9)
    data = glyphs(20_000)
    angle = (torch.arange(LEVELS) + 0.5) / LEVELS * math.pi / 2
    signal, noise_of = angle.cos(), angle.sin()
    model = Denoiser()
    mean = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    warm = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 50))
    print(f"{sum(p.numel() for p in model.parameters())} weights, {len(data)} glyphs", flush=True)
    began = time.time()
    for step in range(1, 20_001):
        x = data[torch.randint(len(data), (BATCH,))]
        level = torch.randint(LEVELS, (BATCH,))
        noise = torch.randn_like(x)
        mixed = signal[level].view(-1, 1, 1, 1) * x + noise_of[level].view(-1, 1, 1, 1) * noise
        loss = nn.functional.mse_loss(model(mixed, level.float()), noise)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        warm.step()
        with torch.no_grad():
            for kept, new in zip(mean.parameters(), model.parameters()):
                kept.lerp_(new, 0.01)
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f} norm {norm.item():.2f} {step / (time.time() - began):.1f} steps/s", flush=True)


if __name__ == "__main__":
    main()
