# python: torch
# expected: step-time-grows
# verdict: slow
# seconds: 30
# env: OMP_NUM_THREADS=1
# where: flat / stats[name] / register_forward_hook / inspect_activations( / self.act / self.model(
# Why: each step registers three more forward hooks and removes none, and every one of them looks at its activation in
# every later step: from 25 ms a step to 450 ms within half a minute. Memory stays flat.
import math
import sys
from collections import OrderedDict

import torch
from torch import nn


class WingNet(nn.Module):
    def __init__(self, species=20):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 5, stride=2, padding=2)
        self.act0 = nn.ReLU()
        self.conv1 = nn.Conv2d(16, 24, 3, stride=2, padding=1)
        self.act1 = nn.ReLU()
        self.conv2 = nn.Conv2d(24, 32, 3, stride=2, padding=1)
        self.act2 = nn.ReLU()
        self.head = nn.Linear(32, species)

    def forward(self, x):
        x = self.act0(self.stem(x))
        x = self.act1(self.conv1(x))
        x = self.act2(self.conv2(x))
        return self.head(x.mean((2, 3)))


def inspect_activations(model):
    """Mean, spread and the share of zeros of each activation, filled in by the next forward pass."""
    stats = OrderedDict()

    def look_at(name):
        def look(module, inputs, output):
            flat = output.detach().flatten()
            stats[name] = (flat.mean().item(), flat.std().item(), (flat == 0).float().mean().item())
        return look

    for name, module in model.named_modules():
        if isinstance(module, nn.ReLU):
            module.register_forward_hook(look_at(name))
    return stats


def wings(n, species, generator):
    kind = torch.randint(0, species, (n,), generator=generator)
    grid = torch.linspace(0, 1, 64)
    stripes = torch.sin((4 + 2 * kind)[:, None].float() * math.pi * grid)[:, None, None, :]
    return stripes + 0.5 * torch.randn(n, 3, 64, 64, generator=generator), kind


class Trainer:
    def __init__(self, model, lr=0.02, out=sys.stdout):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, nesterov=True)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        self.out = out
        self.seen = 0

    def step(self, pictures, kind):
        stats = inspect_activations(self.model)
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.criterion(self.model(pictures), kind)
        loss.backward()
        self.optimizer.step()
        self.seen += len(kind)
        zeros = " ".join(f"{name}:{share:.0%}" for name, (_, _, share) in stats.items())
        return loss.item(), zeros

    def fit(self, pictures, kinds, epochs, batch):
        for epoch in range(1, epochs + 1):
            order = torch.randperm(len(kinds))
            for number, rows in enumerate(order.split(batch)):
                loss, zeros = self.step(pictures[rows], kinds[rows])
                if number % 4 == 0:
                    self.out.write(f"e{epoch}/{number} seen={self.seen} xent={loss:.3f} zeros({zeros})\n")
                    self.out.flush()


torch.manual_seed(8)
pictures, kinds = wings(640, 20, torch.Generator().manual_seed(8))
Trainer(WingNet()).fit(pictures, kinds, epochs=200, batch=32)
