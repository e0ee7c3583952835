# python: torch
# expected: dataloader-workers [also accepted: input-bound]
# verdict: slow
# seconds: 25
# where: num_workers=32
# Why: 32 workers on two cores, started anew for each epoch of 18 batches, most of them for a single batch or none: starting, seeding and
# stopping them takes longer than the batches. Two workers that stay need a fraction of the time.
"""Which of six insects sits on the sticky trap? A small convolutional net on photographs of traps."""
import pathlib
import random
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from PIL import Image, ImageDraw, ImageEnhance
from torch.utils.data import DataLoader, Dataset

SPECIES = ["thrips", "whitefly", "aphid", "fungus gnat", "leafminer", "shore fly"]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="traps-"))


def draw_photos(count, rng):
    photos = []
    for i in range(count):
        kind = i % len(SPECIES)
        grain = rng.integers(0, 24, (30, 40, 3), dtype=np.uint8)
        image = Image.fromarray(grain + np.array([205, 195, 40 + 6 * kind], dtype=np.uint8)).resize((240, 180), Image.BICUBIC)
        pen = ImageDraw.Draw(image)
        for _ in range(int(rng.integers(3, 9))):
            x, y = rng.integers(40, 200), rng.integers(40, 140)
            long, wide = 5 + 3 * kind, 14 - kind
            pen.ellipse((x - long, y - wide // 2, x + long, y + wide // 2), fill=(40 + 8 * kind, 35, 30))
            pen.line((x - long, y, x - long - 8, y - 3 - kind), fill=(20, 20, 20), width=2)
        path = FOLDER / f"trap_{i:04d}.jpg"
        image.save(path, quality=88)
        photos.append((path, kind))
    return photos


class TrapPhotos(Dataset):
    def __init__(self, photos, size=64):
        self.photos, self.size = photos, size

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, index):
        path, kind = self.photos[index]
        image = Image.open(path).convert("RGB")
        image = image.rotate(random.uniform(-20, 20), resample=Image.BILINEAR)
        side = random.randint(120, 170)
        left, top = random.randint(0, 240 - side), random.randint(0, 180 - side)
        image = image.crop((left, top, left + side, top + side))
        image = ImageEnhance.Color(image).enhance(random.uniform(0.7, 1.3))
        image = ImageEnhance.Brightness(image).enhance(random.uniform(0.8, 1.2))
        image = image.resize((self.size, self.size), Image.BILINEAR)
        values = torch.from_numpy(np.asarray(image, dtype=np.float32) / 255.0).permute(2, 0, 1)
        return (values - 0.5) / 0.25, kind


class TrapNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        layers, before = [], 3
        for width in (16, 32, 48, 64):
            layers += [nn.Conv2d(before, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)]
            before = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(before, classes)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


def main():
    torch.manual_seed(3)
    random.seed(3)
    photos = draw_photos(440, np.random.default_rng(3))
    print(f"{len(photos)} photographs in {FOLDER.name}", flush=True)
    loader = DataLoader(TrapPhotos(photos), batch_size=24, shuffle=True, drop_last=True, num_workers=32)
    model = TrapNet(len(SPECIES))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    step, began = 0, time.time()
    for epoch in range(400):
        model.train()
        right = seen = 0
        for images, kinds in loader:
            scores = model(images)
            loss = F.cross_entropy(scores, kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            right += (scores.argmax(1) == kinds).sum().item()
            seen += len(kinds)
            if step % 5 == 0:
                print(f"epoch {epoch + 1} step {step} loss {loss.item():.4f} acc {right / seen:.3f} "
                      f"({step * 24 / (time.time() - began):.0f} photos/s)", flush=True)


if __name__ == "__main__":
    main()
