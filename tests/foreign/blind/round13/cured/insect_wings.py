# python: torch
# The same program without its fault.
"""Tell twelve insect families apart by the venation of a wing (48 x 48 grey pictures)."""
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

FAMILIES = 12
SIZE = 48
STEPS = 20000
CACHE = os.path.join(tempfile.gettempdir(), "insect_wings.npz")


def draw_wings(count=9000, seed=5):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32) / SIZE
    labels = rng.integers(0, FAMILIES, count)
    pictures = np.empty((count, SIZE, SIZE), np.uint8)
    for i, family in enumerate(labels):
        veins = 3 + family % 4
        bend = 0.4 + 0.5 * (family // 4) + rng.normal(0, 0.06)
        phase = rng.uniform(-0.3, 0.3)
        wing = np.cos(2 * np.pi * veins * (y + bend * (x - 0.5) ** 2) + phase) ** 8
        outline = ((x - 0.5) / 0.48) ** 2 + ((y - 0.5) / (0.3 + 0.03 * (family % 3))) ** 2 < 1
        noisy = wing * outline * 160 + 40 + rng.normal(0, 14, (SIZE, SIZE))
        pictures[i] = np.clip(noisy, 0, 255)
    return pictures, labels


class Wings(Dataset):
    def __init__(self, pictures, labels, augment):
        self.pictures = pictures
        self.labels = labels
        self.augment = augment

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        picture = self.pictures[i]
        if self.augment:
            if np.random.rand() < 0.5:
                picture = picture[:, ::-1]
            picture = np.roll(picture, np.random.randint(-3, 4, 2), (0, 1))
        tensor = torch.from_numpy(picture.astype(np.float32) / 127.5 - 1.0)
        return tensor.unsqueeze(0), int(self.labels[i])


class WingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(3),
        )
        self.head = nn.Linear(64 * 9, FAMILIES)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def accuracy(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for images, labels in loader:
            right += (model(images).argmax(1) == labels).sum().item()
            total += len(labels)
    model.train()
    return right / total


def main():
    torch.manual_seed(1)
    if not os.path.exists(CACHE):
        pictures, labels = draw_wings()
        np.savez(CACHE, pictures=pictures, labels=labels)
    with np.load(CACHE) as data:
        pictures, labels = data["pictures"], data["labels"]
    train_loader = DataLoader(
        Wings(pictures[:8500], labels[:8500], True), batch_size=32, shuffle=True, num_workers=2, drop_last=True
    )
    test_loader = DataLoader(Wings(pictures[8500:], labels[8500:], False), batch_size=100)
    model = WingNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-3)
    began = time.time()
    batches = iter(train_loader)
    for step in range(1, STEPS + 1):
        try:
            images, labels = next(batches)
        except StopIteration:
            batches = iter(train_loader)
            images, labels = next(batches)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step:5d}  loss {loss.item():.4f}  {time.time() - began:6.1f} s", flush=True)
        if step % 500 == 0:
            print(f"           test accuracy {accuracy(model, test_loader):.3f}", flush=True)


if __name__ == "__main__":
    main()
