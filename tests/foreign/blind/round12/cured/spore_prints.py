"""Genus of a mushroom from its spore print: a small convolutional network."""
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

GENERA = 8
torch.manual_seed(1)


def prints(n, seed):
    rng = np.random.default_rng(seed)
    genus = rng.integers(0, GENERA, n)
    yy, xx = np.mgrid[-1:1:40j, -1:1:40j]
    radius, angle = np.hypot(xx, yy), np.arctan2(yy, xx)
    images = np.empty((n, 1, 40, 40), np.float32)
    for i, g in enumerate(genus):
        gills = np.sin((6 + 3 * g) * angle + rng.uniform(0, 6.3) + rng.normal(0, 0.4) * radius)
        ring = np.exp(-((radius - rng.uniform(0.5, 0.7)) / 0.3) ** 2)
        images[i, 0] = gills * ring + rng.normal(0, 0.5, radius.shape)
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(genus))


class SporeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(64 * 25, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, GENERA))

    def forward(self, x):
        return self.head(self.features(x))


def accuracy(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    model.train()
    return right / total


def main():
    train = DataLoader(prints(3200, 0), batch_size=32, shuffle=True)
    test = DataLoader(prints(320, 1), batch_size=160)
    model = SporeNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    start, step = time.time(), 0
    for epoch in range(1, 101):
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            step += 1
            if step % 5 == 0:
                print(f"epoch {epoch}  step {step:5d}  loss {loss.item():.4f}  {time.time() - start:.1f} s", flush=True)
        print(f"epoch {epoch}  test accuracy {accuracy(model, test):.3f}", flush=True)


if __name__ == "__main__":
    main()
