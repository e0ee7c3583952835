# python: torch
# expected: host-memory-leak
# verdict: slow
# seconds: 30
# where: done.append((out, high))
# Why: every output (with its graph) and every target is kept for the R2 at the end of an epoch that has 20 000 steps; memory
# grows by some megabytes every second.
"""Sharper height maps: a network makes 96x96 out of 32x32 samples."""
import os
import tempfile

import numpy as np
import torch
from torch import nn

SMALL, FACTOR, BATCH, STEPS = 32, 3, 6, 20_000
LARGE = SMALL * FACTOR


def survey(folder, tiles=24, size=384):
    """Fractal landscapes, one file each."""
    rng = np.random.default_rng(11)
    f = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None, :])
    f[0, 0] = 1
    for number in range(tiles):
        phase = rng.normal(size=f.shape) + 1j * rng.normal(size=f.shape)
        land = np.fft.irfft2(phase / f ** 1.9, s=(size, size))
        np.save(os.path.join(folder, f"tile{number:02d}.npy"), ((land - land.mean()) / land.std()).astype(np.float32))
    return [np.load(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]


def crops(tiles, rng):
    out = np.empty((BATCH, 1, LARGE, LARGE), np.float32)
    for i in range(BATCH):
        tile = tiles[rng.integers(len(tiles))]
        a, b = rng.integers(0, tile.shape[0] - LARGE, 2)
        out[i, 0] = tile[a:a + LARGE, b:b + LARGE]
    high = torch.from_numpy(out)
    return nn.functional.avg_pool2d(high, FACTOR), high


class Sharpen(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, FACTOR ** 2, 3, padding=1), nn.PixelShuffle(FACTOR))

    def forward(self, low):
        return nn.functional.interpolate(low, scale_factor=FACTOR, mode="bilinear", align_corners=False) + self.body(low)


def main():
    torch.manual_seed(2)
    tiles = survey(tempfile.mkdtemp(prefix="hills-"))
    rng = np.random.default_rng(4)
    model = Sharpen()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    print(f"{len(tiles)} tiles, {STEPS} steps an epoch", flush=True)
    for epoch in range(1, 6):
        done = []
        for step in range(1, STEPS + 1):
            low, high = crops(tiles, rng)
            out = model(low)
            loss = nn.functional.l1_loss(out, high)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done.append((out, high))
            if step % 20 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
        with torch.no_grad():
            error = sum(((out - high) ** 2).sum().item() for out, high in done)
            spread = sum(((high - high.mean()) ** 2).sum().item() for _, high in done)
        print(f"epoch {epoch}: R2 {1 - error / spread:.4f}", flush=True)


if __name__ == "__main__":
    main()
