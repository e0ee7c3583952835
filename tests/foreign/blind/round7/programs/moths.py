# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: Pictures are decoded by one worker only, but the network is large and the worker waits for it most of the time.
import os
import tempfile
import time

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm


def draw_moths(folder, count=400, size=72):
    rng = np.random.default_rng(8)
    yy, xx = np.mgrid[-1:1:size * 1j, -1:1:size * 1j]
    for i in range(count):
        kind = i % 4
        wings = (np.abs(xx) ** (1 + 0.4 * kind) + yy ** 2) < rng.uniform(0.3, 0.6)
        img = rng.integers(0, 60, (size, size, 3))
        img[wings] += np.array([[90, 80, 60], [60, 90, 40], [120, 40, 40], [70, 70, 120]][kind])
        Image.fromarray(img.astype(np.uint8)).save(os.path.join(folder, f"{kind}_{i:04d}.jpg"), quality=90)


class MothFolder(Dataset):
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, f) for f in os.listdir(folder))

    def __len__(self):
        return len(self.paths) * 50

    def __getitem__(self, i):
        path = self.paths[i % len(self.paths)]
        with Image.open(path) as img:
            x0, y0 = np.random.randint(0, 8, 2)
            pixels = np.asarray(img.convert("RGB"))[y0:y0 + 64, x0:x0 + 64]
        x = torch.from_numpy(pixels.copy()).permute(2, 0, 1).float() / 127.5 - 1
        return x, int(os.path.basename(path)[0])


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(2))


def main():
    folder = tempfile.mkdtemp(prefix="moths_")
    draw_moths(folder)
    net = nn.Sequential(block(3, 32), block(32, 64), block(64, 128),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 4))
    loader = DataLoader(MothFolder(folder), batch_size=16, shuffle=True, num_workers=1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    for epoch in range(100):
        bar = tqdm(loader, desc=f"epoch {epoch}", mininterval=1.0)
        t0 = time.time()
        for x, y in bar:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            bar.set_postfix(loss=f"{loss.item():.3f}", refresh=False)
        print(f"epoch {epoch} done in {time.time() - t0:.0f}s")


if __name__ == "__main__":
    main()
