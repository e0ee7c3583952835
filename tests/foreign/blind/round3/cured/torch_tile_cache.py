# python: torch
# expected: worker-deadlock
# verdict: stuck|not-started
# seconds: 35
# where: with self.lock / for step, (
# Why: a background thread fills the tile cache under a lock while the DataLoader forks its workers; the copy of the lock in the workers stays
# closed for ever. Everything works with num_workers=0.
import threading
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class TileCache:
    """Decoded terrain tiles, filled in the background while training starts."""

    def __init__(self, n_tiles, side=256):
        self.side = side
        self.n_tiles = n_tiles
        self.tiles = {}
        self.lock = threading.Lock()
        self.filler = threading.Thread(target=self._fill, daemon=True)
        self.filler.start()
        self.filler.join()

    def _make(self, k):
        rng = np.random.default_rng(k)
        spectrum = np.fft.rfft2(rng.standard_normal((self.side, self.side)))
        fy = np.fft.fftfreq(self.side)[:, None]
        fx = np.fft.rfftfreq(self.side)[None]
        spectrum /= (1e-2 + np.hypot(fy, fx)) ** 1.6
        tile = np.fft.irfft2(spectrum)
        return (tile / tile.std()).astype("float32")

    def _fill(self):
        with self.lock:
            for k in range(self.n_tiles):
                self.tiles[k] = self._make(k)

    def get(self, k):
        with self.lock:
            if k not in self.tiles:
                self.tiles[k] = self._make(k)
            return self.tiles[k]


class Patches(Dataset):
    def __init__(self, cache, n=20000, patch=32):
        self.cache, self.n, self.patch = cache, n, patch

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        tile = self.cache.get(int(rng.integers(self.cache.n_tiles)))
        r, c = rng.integers(0, tile.shape[0] - self.patch, 2)
        patch = tile[r:r + self.patch, c:c + self.patch]
        return torch.from_numpy(patch[None].copy()), torch.tensor(patch.std())


cache = TileCache(600)
loader = DataLoader(Patches(cache), batch_size=64, shuffle=True, num_workers=2)
model = nn.Sequential(
    nn.Conv2d(1, 16, 3, stride=2), nn.ReLU(),
    nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
    nn.Flatten(), nn.Linear(32 * 49, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
print(f"model with {sum(p.numel() for p in model.parameters())} parameters", flush=True)
for epoch in range(50):
    for step, (patch, rough) in enumerate(loader):
        loss = nn.functional.mse_loss(model(patch)[:, 0], rough)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
