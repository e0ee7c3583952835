import threading
import zlib

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE = 40


class TileIndex:
    """Compressed tiles by id; a thread verifies them after opening."""

    def __init__(self, count=1200, seed=0):
        rng = np.random.default_rng(seed)
        self.lock = threading.Lock()
        self.labels = rng.integers(0, 4, count)
        self.blobs = []
        for label in self.labels:
            tile = rng.normal(label, 1.0, (4, SIDE, SIDE)).astype(np.float32)
            self.blobs.append(zlib.compress(tile.tobytes(), 1))
        self.checksums = {}
        threading.Thread(target=self.verify, daemon=True).start()

    def verify(self, rounds=12):
        with self.lock:
            for level in range(rounds):
                for key, blob in enumerate(self.blobs):
                    self.checksums[key, level] = zlib.crc32(zlib.decompress(blob), level)

    def read(self, key):
        with self.lock:
            raw = zlib.decompress(self.blobs[key])
        return np.frombuffer(raw, np.float32).reshape(4, SIDE, SIDE)


class Tiles(Dataset):
    def __init__(self, index):
        self.index = index

    def __len__(self):
        return len(self.index.blobs)

    def __getitem__(self, i):
        tile = self.index.read(i)
        return torch.from_numpy(tile.copy()), int(self.index.labels[i])


def build():
    return nn.Sequential(
        nn.Conv2d(4, 16, 3, stride=2), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 4),
    )


def main():
    torch.manual_seed(0)
    index = TileIndex()
    loader = DataLoader(Tiles(index), batch_size=32, shuffle=True, num_workers=2,
                        worker_init_fn=lambda _: setattr(index, "lock", threading.Lock()))
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    step = 0
    for epoch in range(1000):
        for tiles, labels in loader:
            loss = nn.functional.cross_entropy(model(tiles), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
