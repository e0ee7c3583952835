# python: torch
# expected: dataloader-workers [also accepted: input-bound]
# verdict: slow
# seconds: 30
# where: rotate( / filter( / resize( / autocontrast / step(image) / np.asarray / self.augment
# Why: --workers is 0 unless told otherwise, so the training loop itself rotates, blurs and scales every picture; the
# model takes a small part of the step.
import argparse
import random
import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageFilter, ImageOps
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset


class Chain:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, image):
        for step in self.steps:
            image = step(image)
        return image


def spin(image):
    return image.rotate(random.uniform(0, 360), resample=Image.BICUBIC, fillcolor=0)


def defocus(image):
    return image.filter(ImageFilter.GaussianBlur(random.uniform(0.5, 3)))


def shrink(image):
    return image.resize((96, 96), Image.LANCZOS)


def to_tensor(image):
    return torch.from_numpy(np.asarray(image, dtype=np.float32)[None] / 255)


class Plankton(Dataset):
    augment = Chain(spin, defocus, ImageOps.autocontrast, shrink, to_tensor)

    def __init__(self, folder, size=200):
        folder.mkdir(exist_ok=True, parents=True)
        rng = np.random.default_rng(0)
        self.files = [folder / f"{k}.png" for k in range(size)]
        for file in self.files:
            if not file.exists():
                coarse = rng.integers(0, 255, (24, 24), dtype=np.uint8)
                Image.fromarray(coarse).resize((640, 640)).save(file, compress_level=1)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.augment(Image.open(self.files[i])), i % 4


class Experiment:
    def __init__(self, options):
        self.options = options
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 5, 2), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 16, 3, 2), nn.BatchNorm2d(16), nn.ReLU(),
            nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 4))
        self.optimizer = optim.SGD(self.net.parameters(), lr=options.lr, momentum=0.9)
        self.loader = DataLoader(Plankton(options.data), options.batch_size, shuffle=True,
                                 num_workers=options.workers, drop_last=True)

    def train_one_epoch(self, epoch):
        seen = 0
        for images, kinds in self.loader:
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.net(images), kinds)
            loss.backward()
            self.optimizer.step()
            seen += len(images)
            print(f"{epoch:>3} {seen:>5}/{len(self.loader.dataset)}  loss: {loss.item():.4f}", flush=True)

    def run(self):
        for epoch in range(self.options.epochs):
            self.train_one_epoch(epoch)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "plankton-png")
    parser.add_argument("--batch-size", type=int, default=10)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--lr", type=float, default=0.01)
    Experiment(parser.parse_args()).run()
