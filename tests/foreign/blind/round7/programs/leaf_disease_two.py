# python: loops
# expected: loss-output-mismatch
# verdict: healthy|slow
# seconds: 30
# where: torch.softmax / CrossEntropyLoss
# Why: The network ends in a softmax and CrossEntropyLoss applies a second one, so the loss cannot fall below about 2.08 with 20 classes.
import time

import torch
from torch import nn

CLASSES = 20


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 16, 128), nn.ReLU(), nn.Linear(128, CLASSES))

    def forward(self, x):
        x = self.features(x)
        x = self.head(x)
        return torch.softmax(x, dim=1)


class Leaves:
    """Patches of leaves: each disease has its own spot pattern and tint."""

    def __init__(self, count=4000, size=32):
        g = torch.Generator().manual_seed(5)
        patterns = torch.rand(CLASSES, 3, size, size, generator=g)
        patterns = nn.functional.avg_pool2d(patterns, 5, 1, 2)
        patterns = (patterns - patterns.mean((2, 3), keepdim=True)) * 4
        self.y = torch.randint(0, CLASSES, (count,), generator=g)
        self.x = 0.6 * patterns[self.y] + 0.5 * torch.randn(count, 3, size, size, generator=g)

    def epoch(self, batch):
        for idx in torch.randperm(len(self.y)).split(batch):
            yield self.x[idx], self.y[idx]


def main():
    torch.manual_seed(0)
    leaves = Leaves()
    net = LeafNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    step = 0
    for epoch in range(1, 1000):
        start, running, hits = time.time(), 0.0, 0
        for i, (x, y) in enumerate(leaves.epoch(32), 1):
            out = net(x)
            loss = criterion(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            running += loss.item()
            hits += (out.argmax(1) == y).float().mean().item()
            if i % 20 == 0:
                print("[%d, %4d] step %d loss: %.3f acc: %.3f" % (epoch, i, step, running / 20, hits / 20), flush=True)
                running, hits = 0.0, 0
        print("epoch %d took %.1f s" % (epoch, time.time() - start), flush=True)


main()
