# python: torch
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: looks suspicious because workers sit idle most of the time, the main process never prints but every 20 steps, and every 60 steps a checkpoint holds it up for a moment; the model is the step and the loader keeps up.
import os
import tempfile
import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE, KINDS = 64, 10


def write_images(folder, n=800):
    rng = np.random.default_rng(40)
    rows = []
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE * 2 - 1
    for i in range(n):
        k = int(rng.integers(KINDS))
        body = np.exp(-4 * (xx ** 2 * (1 + k % 5) + yy ** 2 * (1 + k // 5 * 3)))
        img = 200 * body + 20 * rng.random((SIDE, SIDE))
        path = os.path.join(folder, f"{i:05d}.png")
        Image.fromarray(img.clip(0, 255).astype(np.uint8)).save(path)
        rows.append((path, k))
    return rows


class Plankton(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        path, k = self.rows[i]
        img = Image.open(path)
        if torch.rand(()) < 0.5:
            img = img.transpose(Image.FLIP_LEFT_RIGHT)
        x = torch.from_numpy(np.array(img, np.float32) / 255)
        return x[None], k


def conv(i, o, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU())


def main():
    torch.manual_seed(40)
    with tempfile.TemporaryDirectory() as folder:
        loader = DataLoader(Plankton(write_images(folder)), batch_size=32, shuffle=True, num_workers=2,
                            persistent_workers=True, drop_last=True)
        net = nn.Sequential(conv(1, 24), conv(24, 32, 2), conv(32, 48), conv(48, 64, 2), conv(64, 64),
                            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, KINDS))
        opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
        step = 0
        for epoch in range(100):
            for x, y in loader:
                loss = nn.functional.cross_entropy(net(x), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                step += 1
                if step % 20 == 0:
                    print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
                if step % 60 == 0:
                    state = {"net": net.state_dict(), "opt": opt.state_dict(), "step": step}
                    torch.save(state, os.path.join(folder, "last.pt"))


if __name__ == "__main__":
    main()
