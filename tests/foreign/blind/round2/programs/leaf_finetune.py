# python: torch
# expected: weights-not-updated [also accepted: loss-frozen, gradient-not-connected]
# verdict: stuck|slow
# seconds: 30
# where: torch.optim.SGD / model.head =
# Why: the head is replaced for the new classes after the optimizer was built, so the optimizer moves the old head; classic when fine-tuning is added to an existing script.
import numpy as np
import torch
from torch import nn

CLASSES = 14
torch.manual_seed(1)
rng = np.random.default_rng(1)


class Backbone(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width * 2, 3, stride=2, padding=1), nn.BatchNorm2d(width * 2), nn.ReLU(),
            nn.Conv2d(width * 2, width * 2, 3, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.head = nn.Linear(width * 8, 1000)

    def forward(self, x):
        return self.head(self.features(x))


def make_leaves(n, side=40):
    y = rng.integers(0, CLASSES, n)
    hue = np.stack([np.cos(y * 0.45), np.sin(y * 0.45), np.cos(y * 0.9)], 1)
    yy, xx = np.mgrid[0:side, 0:side] / side - 0.5
    shape = (xx ** 2 + (1 + (y % 3))[:, None, None] * yy ** 2) < 0.12
    x = shape[:, None] * hue[:, :, None, None] + 0.15 * rng.normal(size=(n, 3, side, side))
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)


def pretrained():
    model = Backbone()
    for p in model.features.parameters():
        p.requires_grad_(False)
    return model


def main():
    x, y = make_leaves(4000)
    model = pretrained()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    model.head = nn.Linear(model.head.in_features, CLASSES)
    lossf = nn.CrossEntropyLoss()
    for epoch in range(500):
        order = torch.randperm(len(y))
        total, right = 0.0, 0
        for i in range(0, len(y), 64):
            xb, yb = x[order[i:i + 64]], y[order[i:i + 64]]
            logits = model(xb)
            loss = lossf(logits, yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(yb)
            right += (logits.argmax(1) == yb).sum().item()
        print(f"epoch {epoch} loss {total / len(y):.4f} accuracy {right / len(y):.3f}", flush=True)


if __name__ == "__main__":
    main()
