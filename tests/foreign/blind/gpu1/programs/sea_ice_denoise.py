# python: gpu
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: a denoiser for pictures of four sizes in turn, so steps take two or three different times and the loss jumps about with
# the strength of the noise; all data are made on the GPU, which is never idle. Nothing is wrong.
"""Denoise synthetic sea-ice radar tiles of several resolutions."""
import time

import torch
import torch.nn.functional as F
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
SIZES = (96, 128, 160, 192)
BATCH = 32
WIDTH = 128


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1 = nn.GroupNorm(8, width)
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.level = nn.Linear(64, width)
        self.norm2 = nn.GroupNorm(8, width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x, level):
        h = self.conv1(F.silu(self.norm1(x))) + self.level(level)[:, :, None, None]
        return x + self.conv2(F.silu(self.norm2(h)))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.level = nn.Sequential(nn.Linear(1, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.stem = nn.Conv2d(2, WIDTH, 5, padding=2)
        self.blocks = nn.ModuleList(Residual(WIDTH) for _ in range(4))
        self.head = nn.Conv2d(WIDTH, 2, 3, padding=1)

    def forward(self, x, sigma):
        level = self.level(sigma.log()[:, None])
        h = self.stem(x)
        for block in self.blocks:
            h = block(h, level)
        return self.head(h)


def tiles(size):
    """Floes: smooth fields with sharp edges, in two polarisations."""
    coarse = torch.randn(BATCH, 2, 8, 8, device=device)
    fine = torch.randn(BATCH, 2, 24, 24, device=device)
    field = F.interpolate(coarse, size=(size, size), mode="bicubic") + 0.4 * F.interpolate(fine, size=(size, size), mode="bicubic")
    return torch.tanh(4 * field)


def main():
    torch.manual_seed(3)
    model = Denoiser().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    began = time.time()
    for step in range(1, 200_001):
        size = SIZES[torch.randint(len(SIZES), ()).item()]
        clean = tiles(size)
        sigma = torch.rand(BATCH, device=device) * 1.5 + 0.1
        noise = torch.randn_like(clean)
        noisy = (clean + sigma[:, None, None, None] * noise).contiguous(memory_format=torch.channels_last)
        with torch.autocast(device, dtype=torch.bfloat16):
            predicted = model(noisy / (1 + sigma[:, None, None, None] ** 2).sqrt(), sigma)
        loss = F.mse_loss(predicted.float(), noise)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f} tile {size} ({time.time() - began:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
