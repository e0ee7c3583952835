# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: several seconds of making data before the first step, no loader workers, four small backward passes for one step and a copy of
# the weights with a moving average; but the data lie in memory as tensors, and the convolutions take nearly all of the time.
import logging
import os
import sys
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(relativeCreated)8d ms | %(message)s")
KINDS = 8


def thin_section(kind, rng, side=48):
    """Interference colours of grains of one mineral under crossed polarisers."""
    yy, xx = np.mgrid[0:side, 0:side] / side
    angle = rng.uniform(0, np.pi)
    wave = np.sin(2 * np.pi * (kind + 2) * (xx * np.cos(angle) + yy * np.sin(angle)) + rng.uniform(0, 6.28))
    grain = np.fft.ifft2(np.fft.fft2(rng.normal(size=(side, side))) * np.exp(-np.hypot(xx - 0.5, yy - 0.5))).real
    tint = np.array([0.9, 0.7 - 0.04 * kind, 0.4 + 0.05 * kind])
    return (tint[:, None, None] * wave + 0.9 * rng.normal(size=(3, side, side)) + grain).astype(np.float32)


class Slides(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.kind = torch.as_tensor(rng.integers(0, KINDS, n))
        self.image = torch.stack([torch.from_numpy(thin_section(int(k), rng)) for k in self.kind])

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        image = self.image[i]
        return (image.flip(-1) if i % 2 else image), self.kind[i]


class Residual(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c, 3, padding=1)
        self.n, self.m = nn.GroupNorm(4, c), nn.GroupNorm(4, c)

    def forward(self, x):
        return torch.relu(x + self.m(self.b(torch.relu(self.n(self.a(x))))))


def build():
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, stride=2, padding=2), nn.ReLU(), Residual(32),
        nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(), Residual(64), Residual(64),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, KINDS),
    )


def main(accumulate=4):
    torch.manual_seed(2)
    torch.set_num_threads(2)
    logging.info("preparing slides")
    train, test = Slides(5000, 1), Slides(160, 2)
    loader = DataLoader(train, batch_size=24, shuffle=True, drop_last=True)
    model, average = build(), build()
    average.load_state_dict(model.state_dict())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True, weight_decay=1e-4)
    folder, step = tempfile.mkdtemp(prefix="slides"), 0
    for epoch in range(100):
        part = 0.0
        for i, (x, y) in enumerate(loader, 1):
            loss = nn.functional.cross_entropy(model(x), y)
            (loss / accumulate).backward()
            part += loss.item() / accumulate
            if i % accumulate:
                continue
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            with torch.no_grad():
                for p, q in zip(average.parameters(), model.parameters()):
                    p.lerp_(q, 0.05)
            logging.info("epoch %d step %d loss %.4f", epoch, step, part)
            part = 0.0
            if step % 60 == 0:
                with torch.no_grad():
                    right = (average(test.image).argmax(1) == test.kind).float().mean().item()
                logging.info("averaged model: %.3f right", right)
                torch.save(average.state_dict(), os.path.join(folder, f"slides_{step // 60 % 2}.pt"))
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
