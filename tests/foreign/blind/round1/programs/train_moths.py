# python: torch
# expected: dataloader-workers [also accepted: input-bound]
# verdict: slow
# seconds: 40
# where: DataLoader( / for images, labels in / multiprocessing_context
# Why: the light-trap set is small, an epoch has a handful of batches, and the spawned workers are started, import torch and are thrown away again for every epoch (no persistent_workers).
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE, SPECIES = 40, 8


class MothTraps(Dataset):
    def __init__(self, n=256):
        rng = np.random.default_rng(7)
        self.labels = rng.integers(0, SPECIES, n)
        tint = rng.uniform(50, 200, (SPECIES, 3, 1, 1))
        noise = rng.normal(0, 50, (n, 3, SIDE, SIDE))
        self.images = np.clip(tint[self.labels] + noise, 0, 255).astype("uint8")

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = torch.from_numpy(self.images[i]).float() / 255
        if torch.rand(()) < 0.5:
            image = image.flip(-1)
        return image, int(self.labels[i])


def build_model():
    return nn.Sequential(
        nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(48, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(64, SPECIES))


def main():
    torch.manual_seed(0)
    loader = DataLoader(MothTraps(), batch_size=32, shuffle=True, num_workers=2,
                        multiprocessing_context="spawn")
    model = build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    started, step = time.time(), 0
    for epoch in range(1, 401):
        total = 0.0
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            step += 1
        print(f"epoch {epoch}  step {step}  loss {total / len(loader):.4f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
