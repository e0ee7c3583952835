# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# env: OMP_NUM_THREADS=2
# Why: a convolution net on the CPU under a loop of its own, with timing decorators, gradient accumulation and a
# DataLoader without workers over tensors in memory. A step takes some tenths of a second, all of it arithmetic.
import argparse
import functools
import time
from collections import defaultdict

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SPENT = defaultdict(float)


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        begin = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            SPENT[function.__name__] += time.perf_counter() - begin
    return wrapper


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.path = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(x + self.path(x))


class FloeNet(nn.Module):
    def __init__(self, width=24, depth=2):
        super().__init__()
        self.inlet = nn.Conv2d(2, width, 3, padding=1)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(depth)))
        self.outlet = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        return self.outlet(self.blocks(self.inlet(x)))


@timed
def forward(net, radar, ice):
    return nn.functional.binary_cross_entropy_with_logits(net(radar), ice)


@timed
def backward(loss, accumulate):
    (loss / accumulate).backward()


@timed
def update(optimizer, net):
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--accumulate", type=int, default=2)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=100)
    args = ap.parse_args()
    radar = torch.randn(256, 2, 48, 48)
    ice = (nn.functional.avg_pool2d(radar[:, :1], 7, 1, 3) > 0).float()
    loader = DataLoader(TensorDataset(radar, ice), args.batch, shuffle=True, num_workers=0)
    net = FloeNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        for k, (x, y) in enumerate(loader, 1):
            loss = forward(net, x, y)
            backward(loss, args.accumulate)
            if k % args.accumulate == 0:
                update(optimizer, net)
                shares = " ".join(f"{name} {spent:.1f}s" for name, spent in SPENT.items())
                print(f"epoch {epoch + 1} batch {k}/{len(loader)} bce {loss.item():.4f} [{shares}]", flush=True)


if __name__ == "__main__":
    main()
