# python: loops
# expected: step-time-grows
# verdict: slow
# seconds: 35
# where: register_forward_hook / hook_fn / np.percentile
# Why: A forward hook is registered in every training step and never removed; after n steps the layer runs n hooks.
import time

import numpy as np
import torch
from torch import nn


class LeafNet(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU())
        self.body = nn.Sequential(
            nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        return self.head(self.body(self.stem(x)))


class LeafSpots:
    """Green leaves with 0 to 5 brown spots."""

    def __init__(self, n=2000, size=32):
        g = torch.Generator().manual_seed(11)
        self.x = torch.rand(n, 3, size, size, generator=g) * 0.2
        self.x[:, 1] += 0.5
        self.y = torch.randint(0, 6, (n,), generator=g)
        for i in range(n):
            for _ in range(int(self.y[i])):
                r, c = torch.randint(0, size - 6, (2,), generator=g).tolist()
                self.x[i, 0, r:r + 6, c:c + 6] = 0.7
                self.x[i, 1, r:r + 6, c:c + 6] = 0.2

    def batches(self, batch_size):
        order = torch.randperm(len(self.x))
        for i in range(0, len(order) - batch_size + 1, batch_size):
            rows = order[i:i + batch_size]
            yield self.x[rows], self.y[rows]


class Trainer:
    def __init__(self, model, data, batch_size=32, lr=2e-3):
        self.model, self.data, self.batch_size = model, data, batch_size
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()
        self.activations = {}
        self.steps = 0

    def watch(self, name, layer):
        def hook_fn(module, args, out):
            low, middle, high = np.percentile(out[:12].detach().numpy(), (5, 50, 95))
            self.activations[name] = (middle, high - low)
        return layer.register_forward_hook(hook_fn)

    def train_step(self, x, y):
        self.model.train()
        handle = self.watch("stem", self.model.stem)
        logits = self.model(x)
        handle.remove()
        loss = self.criterion(logits, y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        return loss.item()

    def fit(self, epochs):
        started = time.perf_counter()
        for epoch in range(epochs):
            for x, y in self.data.batches(self.batch_size):
                loss = self.train_step(x, y)
                if self.steps % 5 == 0:
                    middle, spread = self.activations["stem"]
                    print(f"[{time.perf_counter() - started:7.1f}s] epoch {epoch} step {self.steps} "
                          f"loss {loss:.3f} stem {middle:.3f} ({spread:.3f})", flush=True)


if __name__ == "__main__":
    torch.manual_seed(1)
    Trainer(LeafNet(), LeafSpots()).fit(epochs=500)
