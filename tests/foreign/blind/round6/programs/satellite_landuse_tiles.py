# python: torch
# expected: worker-deadlock
# verdict: stuck|not-started
# seconds: 30
# how: attach
# where: with self.lock
# Why: a thread that warms the tile cache holds the cache's lock while the loader forks its workers; their copy of the lock is never opened.
import os
import tempfile
import threading

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset


class TileStore:
    """Reads tiles from disk and keeps them, since every epoch asks for the same ones."""

    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        self.tiles = {}
        self.lock = threading.Lock()

    def get(self, i):
        with self.lock:
            tile = self.tiles.get(i)
            if tile is None:
                picture = Image.open(self.paths[i % len(self.paths)]).convert("RGB")
                tile = np.asarray(picture.resize((64, 64), Image.BICUBIC))
                self.tiles[i] = tile
            return tile

    def warm(self, count):
        for i in range(count):
            self.get(i)


class LandUse(Dataset):
    def __init__(self, store, labels):
        self.store, self.labels = store, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        tile = torch.from_numpy(self.store.get(i).transpose(2, 0, 1).copy())
        return tile.float() / 127.5 - 1, self.labels[i]


def write_tiles(folder, count=60, size=512):
    rng = np.random.default_rng(0)
    for i in range(count):
        coarse = rng.integers(0, 255, (32, 32, 3), dtype=np.uint8)
        coarse[..., i % 3] //= 3
        Image.fromarray(coarse).resize((size, size), Image.BILINEAR).save(os.path.join(folder, f"tile_{i:04d}.png"),
                                                                              compress_level=1)


class Net(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 32, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 3))


def main():
    folder = tempfile.mkdtemp(prefix="landuse_")
    write_tiles(folder)
    store = TileStore(folder)
    labels = [i % 60 % 3 for i in range(480)]
    warmer = threading.Thread(target=store.warm, args=(len(labels),), daemon=True)
    warmer.start()

    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = DataLoader(LandUse(store, labels), batch_size=16, shuffle=True, num_workers=2, persistent_workers=True)
    print(f"{len(labels)} tiles, {len(loader)} batches per epoch", flush=True)
    step = 0
    for epoch in range(100000):
        for tiles, target in loader:
            loss = nn.functional.cross_entropy(model(tiles), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
