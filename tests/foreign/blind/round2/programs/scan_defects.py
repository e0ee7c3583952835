# python: torch
# expected: per-pixel-python [also accepted: input-bound, hot-line, dataloader-workers]
# verdict: slow
# seconds: 30
# where: def local_binary_pattern / img[r + dr, c + dc] / code |=
# Why: the texture feature is written as three nested Python loops over every pixel of every sample; a formula from a paper put into __getitem__ as it stands.
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RING = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]


def make_scans(n, side=40, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(128, 12, (n, side, side))
    y = rng.integers(0, 2, n)
    for i in np.flatnonzero(y):
        r = rng.integers(4, side - 8)
        x[i, r:r + 3, 4:-4] += 45
    return x.clip(0, 255).astype(np.uint8), y.astype(np.int64)


def local_binary_pattern(img):
    rows, cols = img.shape
    out = np.zeros((rows - 2, cols - 2), np.float32)
    for r in range(1, rows - 1):
        for c in range(1, cols - 1):
            code = 0
            for bit, (dr, dc) in enumerate(RING):
                if img[r + dr, c + dc] >= img[r, c]:
                    code |= 1 << bit
            out[r - 1, c - 1] = code / 255
    return out


class Scans(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        img = self.x[i]
        lbp = local_binary_pattern(img)
        grey = img[1:-1, 1:-1].astype(np.float32) / 255
        return torch.from_numpy(np.stack([grey, lbp])), int(self.y[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, 12, 3, stride=2), nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 2))

    def forward(self, x):
        return self.body(x)


def main():
    torch.manual_seed(0)
    x, y = make_scans(2000)
    loader = DataLoader(Scans(x, y), batch_size=16, shuffle=True)
    net = Net()
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    lossf = nn.CrossEntropyLoss()
    step = 0
    for epoch in range(200):
        for xb, yb in loader:
            loss = lossf(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 5 == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
