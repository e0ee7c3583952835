# python: torch
# truth: batch=makes data, step=computes, check=validates, save=checkpoints
# Why: no workers: the loop makes its batches itself; it validates and saves now and then.
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from stopwatch import part, started


class Beans(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        picture = np.zeros((48, 48), np.float32)
        beans = int(rng.integers(1, 9))
        for _ in range(beans):
            y, x = rng.integers(4, 44, 2)
            picture[y - 3:y + 3, x - 3:x + 3] += rng.random((6, 6), np.float32)
        for _ in range(4):
            picture = (picture + np.roll(picture, 1, axis=0) + np.roll(picture, 1, axis=1)) / 3
        picture = np.sort(picture, axis=0)[::-1].astype(np.float32)
        return torch.from_numpy(picture[None]), torch.tensor(float(beans))


def build():
    return nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 48, 3), nn.ReLU(),
                         nn.Flatten(), nn.Linear(48 * 22 * 22, 128), nn.ReLU(), nn.Linear(128, 1))


def validate(model, loader):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for pictures, beans in loader:
            total += (model(pictures)[:, 0] - beans).abs().sum().item()
    model.train()
    return total / len(loader.dataset)


def save_checkpoint(model, optimizer, path):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def main():
    torch.manual_seed(0)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train = DataLoader(Beans(100_000), batch_size=64)
    held_back = [batch for batch in DataLoader(Beans(400), batch_size=50)]

    class Kept:
        dataset = range(400)

        def __iter__(self):
            return iter(held_back)

    folder = tempfile.mkdtemp()
    batches, step = iter(train), 0
    while True:
        if step == 0:
            pictures, beans = next(batches)
            started()
        else:
            with part("batch"):
                pictures, beans = next(batches)
        with part("step"):
            loss = nn.functional.mse_loss(model(pictures)[:, 0], beans)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
        if step % 10 == 0:
            with part("check"):
                error = validate(model, Kept())
                print(f"step {step} loss {loss.item():.3f} val_error {error:.3f}", flush=True)
        if step % 5 == 0:
            with part("save"):
                save_checkpoint(model, optimizer, os.path.join(folder, "last.pt"))


if __name__ == "__main__":
    main()
