# python: torch
# expected: nan-loss
# verdict: slow|healthy
# seconds: 30
# Why: a siamese net takes the square root of a squared distance; the first pair of twins (same picture twice) has
# distance zero, where the root has no gradient, and weights and loss are NaN from then on.
import logging
import math
import random

import torch
from torch import nn

log = logging.getLogger("signatures")


def setup_logging():
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s | %(levelname)s | %(message)s", "%H:%M:%S"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)


class Pairs:
    """Two samples of one writer, or of two; a writer with a single sample is paired with himself."""

    def __init__(self, writers=7500, side=28, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.random = random.Random(seed)
        self.by_writer = []
        for w in range(writers):
            centre = torch.randn(1, side, side, generator=g)
            copies = 1 if w == writers - 1 else 2
            self.by_writer.append(centre + 0.3 * torch.randn(copies, side, side, generator=g))

    def sample(self):
        writer = self.random.choice(self.by_writer)
        if self.random.random() < 0.5:
            return writer[0], writer[-1], 1.0
        other = self.random.choice(self.by_writer)
        return writer[0], other[-1], float(other is writer)

    def batch(self, n):
        a, b, same = zip(*(self.sample() for _ in range(n)))
        return torch.stack(a), torch.stack(b), torch.tensor(same)


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(nn.Flatten(), nn.Linear(784, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(),
                                   nn.Linear(768, 64))

    def forward(self, a, b):
        return torch.sqrt(((self.tower(a) - self.tower(b)) ** 2).sum(1))


def contrastive(distance, same, margin=1.0):
    apart = torch.clamp(margin - distance, min=0) ** 2
    return (same * distance ** 2 + (1 - same) * apart).mean()


def train(max_steps=100_000, every=25):
    pairs, net = Pairs(), Twin()
    opt = torch.optim.Adam(net.parameters(), lr=3e-4)
    ema = None
    for it in range(max_steps):
        a, b, same = pairs.batch(48)
        loss = contrastive(net(a, b), same)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema = loss.item() if ema is None else 0.9 * ema + 0.1 * loss.item()
        if it % every == 0:
            log.info("it %06d | loss %.4f | ema %.4f | lr %.1e", it, loss.item(), ema, opt.param_groups[0]["lr"])
    return math.sqrt(ema)


if __name__ == "__main__":
    setup_logging()
    torch.manual_seed(0)
    train()
