# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: one DataLoader worker and a batch of 8 look meagre, but the worker needs a tenth of the step for eight small JPEGs and the
#   transformer is the work; a checkpoint is written now and then.
"""Pests on orchard traps: small vision transformer on JPEG crops."""
import os
import random
import tempfile

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

CLASSES = 6


def photograph(folder, count=2400, side=72):
    rng = np.random.default_rng(14)
    listing = []
    for i in range(count):
        kind = int(rng.integers(CLASSES))
        small = rng.integers(90, 160, (9, 9, 3)).astype(np.uint8)
        small[3:6, 2:7, kind % 3] = 30 + 35 * kind
        path = os.path.join(folder, f"trap{i:04d}.jpg")
        Image.fromarray(small).resize((side, side), Image.BICUBIC).save(path, quality=90)
        if rng.random() < 0.1:  # named wrongly by the volunteers
            kind = int(rng.integers(CLASSES))
        listing.append((path, kind))
    return listing


class Traps(Dataset):
    def __init__(self, listing):
        self.listing = listing

    def __len__(self):
        return len(self.listing)

    def __getitem__(self, i):
        path, kind = self.listing[i]
        with Image.open(path) as im:
            pixels = np.asarray(im.convert("RGB"), dtype=np.float32) / 255
        if random.random() < 0.5:
            pixels = pixels[:, ::-1]
        return torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1))) - 0.5, kind


class PestViT(nn.Module):
    def __init__(self, side=72, patch=6, dim=192, depth=4):
        super().__init__()
        self.cut = nn.Conv2d(3, dim, patch, stride=patch)
        self.place = nn.Parameter(torch.randn(1, (side // patch) ** 2, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, 4, 4 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, CLASSES)

    def forward(self, x):
        t = self.cut(x).flatten(2).transpose(1, 2) + self.place
        return self.head(self.norm(self.body(t).mean(1)))


def main():
    torch.manual_seed(14)
    folder = tempfile.mkdtemp(prefix="traps_")
    listing = photograph(folder)
    loader = DataLoader(Traps(listing), batch_size=8, shuffle=True, num_workers=1, persistent_workers=True)
    model = PestViT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.05)
    for epoch in range(1000):
        bar = tqdm(loader, desc=f"epoch {epoch}", mininterval=1.0)
        for images, kinds in bar:
            loss = nn.functional.cross_entropy(model(images), kinds)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            bar.set_postfix(loss=f"{loss.item():.3f}", refresh=False)
        torch.save({"model": model.state_dict(), "epoch": epoch}, os.path.join(folder, "last.pt"))


if __name__ == "__main__":
    main()
