import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE = 48


class CellCrops(Dataset):
    """Crops of a fluorescence slide, two channels, with three cell types."""

    def __init__(self, count=4000, seed=0):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 3, count)
        yy, xx = np.mgrid[:SIDE, :SIDE]
        self.crops = np.empty((count, SIDE, SIDE), np.uint16)
        for i, label in enumerate(self.labels):
            cy, cx = rng.integers(14, SIDE - 14, 2)
            r = 4 + 3 * label + rng.random() * 2
            blob = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * r * r))
            noise = rng.normal(200, 30, (SIDE, SIDE))
            self.crops[i] = np.clip(noise + 2500 * blob, 0, 65535)

    def __len__(self):
        return len(self.crops)

    def correct(self, image):
        floor = float(np.percentile(image, 10))
        top = float(image.max()) - floor
        value = (image.astype(np.float32) - floor) / top
        return (np.clip(value, 0.0, 1.0) ** 0.7).astype(np.float32)

    def __getitem__(self, index):
        image = self.correct(self.crops[index])
        return torch.from_numpy(image)[None], int(self.labels[index])


def build():
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, stride=2), nn.ReLU(),
        nn.Conv2d(12, 24, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(),
        nn.Linear(24 * 16, 3),
    )


def main():
    torch.manual_seed(0)
    loader = DataLoader(CellCrops(), batch_size=32, shuffle=True)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    criterion = nn.CrossEntropyLoss()
    step = 0
    for epoch in range(1000):
        for images, labels in loader:
            loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
