# python: torch
# expected: preprocessing-before-fit
# verdict: not-started
# seconds: 30
# where: np.gradient / np.histogram / np.hypot / orientation_histograms / part / np.linalg / for tile in
# Why: the trainer's fit calls the data module's setup, which describes every tile of the data set, one by one and on
# one core, before the first step; it would take minutes. No step, no line, only a core at work.
import logging
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

import loops

logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(name)s: %(message)s")


def orientation_histograms(tile, cells=8, bins=9):
    dy, dx = np.gradient(tile)
    strength, angle = np.hypot(dx, dy), np.arctan2(dy, dx)
    step = tile.shape[0] // cells
    described = []
    for row in range(0, tile.shape[0], step):
        for column in range(0, tile.shape[1], step):
            part = np.s_[row:row + step, column:column + step]
            counts, _ = np.histogram(angle[part], bins=bins, range=(-np.pi, np.pi), weights=strength[part])
            described.append(counts / (np.linalg.norm(counts) + 1e-6))
    return np.concatenate(described)


class CraterData:
    def __init__(self, path=Path(tempfile.gettempdir()) / "crater-tiles.npy", tiles=24_000, side=64):
        self.path, self.tiles, self.side = path, tiles, side
        if not self.path.exists():
            rng = np.random.default_rng(5)
            np.save(self.path, rng.integers(0, 255, (tiles, side, side), dtype=np.uint8))

    def setup(self):
        tiles = np.load(self.path, mmap_mode="r")
        self.features = torch.tensor(
            np.array([orientation_histograms(tile.astype(np.float32)) for tile in tiles]), dtype=torch.float32)
        self.targets = torch.randint(0, 2, (len(self.features),))

    def train_loader(self):
        return DataLoader(TensorDataset(self.features, self.targets), batch_size=256, shuffle=True)


class CraterClassifier(loops.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(width, 256), torch.nn.GELU(), torch.nn.Dropout(0.2), torch.nn.Linear(256, 2))

    def training_step(self, batch):
        features, targets = batch
        return torch.nn.functional.cross_entropy(self.layers(features), targets)


if __name__ == "__main__":
    trainer = loops.Trainer(max_epochs=10, callbacks=[loops.LogEvery(10)])
    trainer.fit(CraterClassifier(8 * 8 * 9), CraterData())
