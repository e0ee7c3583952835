# python: torch
# expected: worker-died
# verdict: crashed
# seconds: 40
# where: .result() / as_completed
# Why: the alignment is a recursive function behind lru_cache with the recursion limit raised; a long pair of songs
# uses up the C stack and the process ends by SIGSEGV. The executor raises BrokenProcessPool in the parent.
import functools
import logging
import sys
from concurrent import futures

import numpy as np
import torch

logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(relativeCreated)7d %(message)s")
sys.setrecursionlimit(10_000_000)


def song(seed, length):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(size=length)).round(2).tolist()


def alignment(a, b, band=2):
    @functools.lru_cache(maxsize=None)
    def cost(i, j):
        if i < 0 or j < 0 or abs(i - j) > band:
            return float("inf") if (i, j) != (-1, -1) else 0.0
        return abs(a[i] - b[j]) + min(cost(i - 1, j - 1), cost(i - 1, j), cost(i, j - 1))

    total = cost(len(a) - 1, len(b) - 1)
    cost.cache_clear()
    return total / len(a) ** 1.5


def measure(pair):
    left, right, length = pair
    a, b = song(left, length), song(right, length)
    return torch.tensor(a[:64]), torch.tensor(b[:64]), alignment(a, b)


class Embedder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.Tanh(), torch.nn.Linear(512, 32))

    def forward(self, a, b):
        return (self.net(a) - self.net(b)).pow(2).mean(1)


def rounds(n):
    """Songs get longer from one round to the next, as a curriculum."""
    for k in range(n):
        yield [(100 * k + i, 100 * k + i + 50, 1000 * (k + 1)) for i in range(12)]


def main():
    model = Embedder()
    opt = torch.optim.Adam(model.parameters(), lr=1e-5)
    with futures.ProcessPoolExecutor(max_workers=2) as executor:
        for number, pairs in enumerate(rounds(40)):
            jobs = [executor.submit(measure, pair) for pair in pairs]
            a, b, cost = zip(*(job.result() for job in futures.as_completed(jobs)))
            a, b, cost = torch.stack(a), torch.stack(b), torch.tensor(cost)
            for _ in range(300):
                opt.zero_grad()
                loss = torch.nn.functional.smooth_l1_loss(model(a, b), cost)
                loss.backward()
                opt.step()
            logging.info("round %d (%d notes) loss %.4f", number, pairs[0][2], loss.item())


if __name__ == "__main__":
    main()
