# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two workers sit idle most of the time because the model is the work, labels are noisy so the loss jumps about, every 150 steps
# there is a short validation and a checkpoint. All of that is as it should be.
"""Finds mangroves in six-band satellite tiles, pixel by pixel."""
import pathlib
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

BANDS, SIDE = 6, 48


class Tiles(Dataset):
    """Cuts tiles at random from one large scene that was drawn beforehand; a twentieth of the labels is wrong."""

    def __init__(self, scene, labels, count, seed):
        self.scene, self.labels, self.count, self.seed = scene, labels, count, seed

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        rng = np.random.default_rng(self.seed * 1000003 + index)
        top, left = rng.integers(0, self.scene.shape[1] - SIDE, 2)
        tile = self.scene[:, top:top + SIDE, left:left + SIDE]
        label = self.labels[top:top + SIDE, left:left + SIDE]
        if rng.random() < 0.5:
            tile, label = tile[:, :, ::-1], label[:, ::-1]
        label = np.where(rng.random(label.shape) < 0.05, 1 - label, label)
        tile = tile * rng.uniform(0.8, 1.2) + rng.normal(0, 0.1, (BANDS, 1, 1))
        return torch.from_numpy(tile.astype(np.float32)), torch.from_numpy(label.astype(np.float32))


def draw_scene(side, rng):
    height = np.zeros((side, side))
    for size in (8, 16, 32, 64):
        coarse = rng.normal(0, 1, (side // size + 1, side // size + 1))
        height += np.kron(coarse, np.ones((size, size)))[:side, :side] * size ** 0.5
    height = (height - height.mean()) / height.std()
    labels = ((height > 0.2) & (height < 0.9)).astype(np.float32)
    response = rng.normal(0, 1, (BANDS, 2))
    scene = response[:, :1, None] * height + response[:, 1:, None] * labels + rng.normal(0, 1.0, (BANDS, side, side))
    return scene.astype(np.float32), labels


class MangroveNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.stem = nn.Conv2d(BANDS, width, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=d, dilation=d)) for d in (1, 2, 4, 1))
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.out(F.relu(x)).squeeze(1)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    common = either = 0.0
    for tiles, labels in loader:
        found = model(tiles) > 0
        common += (found & (labels > 0.5)).sum().item()
        either += (found | (labels > 0.5)).sum().item()
    model.train()
    return common / max(either, 1)


def main():
    torch.manual_seed(21)
    rng = np.random.default_rng(21)
    scene, labels = draw_scene(768, rng)
    train = DataLoader(Tiles(scene, labels, 6000, 1), batch_size=8, shuffle=True, num_workers=2, persistent_workers=True)
    held = DataLoader(Tiles(scene, labels, 32, 2), batch_size=16)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mangroves-"))
    model = MangroveNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4)
    step, best, began = 0, 0.0, time.time()
    for epoch in range(200):
        for tiles, masks in train:
            loss = F.binary_cross_entropy_with_logits(model(tiles), masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 5 == 0:
                print(f"epoch {epoch + 1} step {step} loss {loss.item():.4f} ({time.time() - began:.0f} s)", flush=True)
            if step % 150 == 0:
                score = validate(model, held)
                if score > best:
                    best = score
                    torch.save({"model": model.state_dict(), "step": step}, folder / "best.pt")
                print(f"validation: overlap {score:.3f}, best {best:.3f}", flush=True)


if __name__ == "__main__":
    main()
