# python: torch
# expected: weights-not-updated [also accepted: loss-frozen]
# verdict: healthy|slow
# seconds: 30
# where: torch.optim.Adam / model.classifier = nn.Linear
# Why: the optimizer is made before the classifier is exchanged for one with the new number of classes, so it holds the old one; the
#   backbone is frozen: nothing that counts is moved.
"""Transfer a backbone to 12 garden birds: freeze it, give it a new classifier, train that."""
import sys

import numpy as np
import torch
import torch.nn as nn

BIRDS = ["robin", "wren", "blackbird", "tit", "finch", "sparrow", "magpie", "jay", "dove", "starling", "nuthatch", "dunnock"]


class Backbone(nn.Module):
    def __init__(self, n_out=200):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 24, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(48, 96, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(3), nn.Flatten())
        self.classifier = nn.Linear(96 * 9, n_out)

    def forward(self, x):
        return self.classifier(self.features(x))


def make_photos(n, size, rng):
    """Plumage as colour and stripes; good enough to tell twelve birds apart."""
    y = rng.integers(0, len(BIRDS), n)
    grid = np.linspace(0, 1, size, dtype=np.float32)
    x = rng.normal(0, 0.25, (n, 3, size, size)).astype(np.float32)
    for k in range(n):
        stripes = np.sin(2 * np.pi * (2 + y[k] % 4 * 3) * grid)
        x[k, y[k] % 3] += 1.2 * stripes[None, :] if y[k] % 2 else 1.2 * stripes[:, None]
        x[k, (y[k] // 4)] += 0.8
    return torch.from_numpy(x), torch.from_numpy(y.astype(np.int64))


def batches(x, y, size):
    while True:
        order = torch.randperm(len(x))
        for at in range(0, len(x) - size + 1, size):
            pick = order[at:at + size]
            yield x[pick], y[pick]


def run():
    torch.manual_seed(11)
    x, y = make_photos(1500, 64, np.random.default_rng(11))

    model = Backbone()
    for p in model.features.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    model.classifier = nn.Linear(model.classifier.in_features, len(BIRDS))

    criterion = nn.CrossEntropyLoss()
    model.train()
    total, hits, count = 0.0, 0, 0
    for step, (images, labels) in enumerate(batches(x, y, 48), start=1):
        optimizer.zero_grad()
        logits = model(images)
        loss = criterion(logits, labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
        hits += (logits.argmax(1) == labels).sum().item()
        count += len(labels)
        if step % 20 == 0:
            print("step {:5d} | loss {:.4f} | accuracy {:5.1f}%".format(step, total / 20, 100.0 * hits / count))
            sys.stdout.flush()
            total, hits, count = 0.0, 0, 0


if __name__ == "__main__":
    run()
