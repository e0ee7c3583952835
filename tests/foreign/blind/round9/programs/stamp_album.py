# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: Pillow turns and crops every stamp in one DataLoader worker, the main process now and then tests and saves; the worker is
# ahead of the model all the time.
"""Countries of stamps: Pillow augmentation in a DataLoader worker, a convolutional network."""
import os
import tempfile
import time

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import nn
from torch.utils.data import DataLoader, Dataset

COUNTRIES, SIDE = 8, 56


class Stamps(Dataset):
    def __init__(self, count, augment):
        rng = np.random.default_rng(count)
        self.augment = augment
        self.country = rng.integers(0, COUNTRIES, count)
        self.images = [self.draw(int(c), rng) for c in self.country]

    @staticmethod
    def draw(country, rng):
        image = Image.new("RGB", (SIDE + 8, SIDE + 8), tuple(int(v) for v in rng.integers(120, 255, 3)))
        pen = ImageDraw.Draw(image)
        for i in range(country + 2):
            x, y = rng.integers(4, SIDE - 8, 2)
            size = int(rng.integers(6, 14))
            box = [int(x), int(y), int(x) + size, int(y) + size]
            (pen.ellipse if (country + i) % 2 else pen.rectangle)(box, fill=tuple(int(v) for v in rng.integers(0, 110, 3)))
        return image

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        if self.augment:
            image = image.rotate(float(np.random.uniform(-10, 10)), Image.BILINEAR)
            left, top = np.random.randint(0, 9, 2)
        else:
            left = top = 4
        image = image.crop((left, top, left + SIDE, top + SIDE))
        pixels = torch.from_numpy(np.asarray(image, dtype=np.float32).transpose(2, 0, 1) / 127.5 - 1.0)
        return pixels, int(self.country[index])


def network():
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(48, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, COUNTRIES),
    )


def main():
    torch.manual_seed(0)
    train = DataLoader(Stamps(4000, True), batch_size=32, shuffle=True, num_workers=1, persistent_workers=True)
    test = DataLoader(Stamps(160, False), batch_size=80)
    net = network()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    began, step = time.time(), 0
    for epoch in range(1, 101):
        for pixels, country in train:
            net.train()
            loss = nn.functional.cross_entropy(net(pixels), country)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f} [{time.time() - began:.0f} s]")
            if step % 100 == 0:
                net.eval()
                with torch.no_grad():
                    right = sum((net(x).argmax(1) == y).sum().item() for x, y in test)
                print(f"test: {right}/160 right")
                torch.save(net.state_dict(), os.path.join(tempfile.gettempdir(), "stamp_album.pt"))


if __name__ == "__main__":
    main()
