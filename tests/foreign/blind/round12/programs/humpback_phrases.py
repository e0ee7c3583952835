# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the loss is very noisy, because each sample draws its own noise level, and falls slowly; a worker that mostly sleeps, the moving
# average of the weights and a checkpoint every 200 steps are all cheap beside the network.
"""A denoising diffusion model for the pitch contours of humpback phrases."""
import copy
import math
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

LENGTH, LEVELS = 128, 200


class Phrases(IterableDataset):
    def __iter__(self):
        rng = np.random.default_rng()
        t = np.arange(LENGTH) / LENGTH
        while True:
            f, bend, kind = rng.uniform(2, 7), rng.normal(0, 2), rng.integers(0, 3)
            if kind == 0:
                y = np.sin(2 * np.pi * (f * t + bend * t * t))
            elif kind == 1:
                y = 2 * ((f * t + bend / 8) % 1) - 1
            else:
                y = np.tanh(4 * np.sin(2 * np.pi * f * t)) * np.exp(-t)
            yield torch.from_numpy((0.8 * y).astype(np.float32))[None]


class Layer(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.level = nn.Linear(64, width)
        self.conv = nn.Conv1d(width, 2 * width, 3, padding=dilation, dilation=dilation)
        self.mix = nn.Conv1d(width, width, 1)

    def forward(self, x, level):
        a, b = self.conv(x + self.level(level)[:, :, None]).chunk(2, 1)
        return x + self.mix(torch.tanh(a) * torch.sigmoid(b))


class Denoiser(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.first = nn.Conv1d(1, width, 5, padding=2)
        self.layers = nn.ModuleList(Layer(width, 2 ** (i % 5)) for i in range(6))
        self.last = nn.Conv1d(width, 1, 1)
        self.register_buffer("rates", torch.exp(-torch.arange(32) * math.log(1e4) / 32))

    def forward(self, x, level):
        angle = level[:, None].float() * self.rates
        code = torch.cat([angle.sin(), angle.cos()], 1)
        x = self.first(x)
        for layer in self.layers:
            x = layer(x, code)
        return self.last(torch.relu(x))


def main():
    torch.manual_seed(9)
    folder = tempfile.mkdtemp(prefix="humpback_")
    kept = torch.cumprod(1 - torch.linspace(1e-4, 0.04, LEVELS), 0)
    loader = iter(DataLoader(Phrases(), batch_size=24, num_workers=1))
    model = Denoiser()
    average = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(model.parameters(), 4e-4)
    start = time.time()
    for step in range(1, 20001):
        clean = next(loader)
        level = torch.randint(0, LEVELS, (len(clean),))
        noise = torch.randn_like(clean)
        k = kept[level][:, None, None]
        loss = nn.functional.mse_loss(model(k.sqrt() * clean + (1 - k).sqrt() * noise, level), noise)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            for p, q in zip(average.parameters(), model.parameters()):
                p.lerp_(q, 0.005)
        if step % 2 == 0:
            print(f"step {step:5d}  loss {loss.item():.4f}  {time.time() - start:.1f} s", flush=True)
        if step % 200 == 0:
            torch.save({"model": model.state_dict(), "average": average.state_dict()}, os.path.join(folder, "last.pt"))


if __name__ == "__main__":
    main()
