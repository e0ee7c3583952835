# python: plain
# expected: garbage-collection [also accepted: hot-line]
# verdict: slow
# seconds: 25
# where: gc.collect
# Why: gc.collect() after every step "to keep memory low" looks through 700000 objects of the visit log each time.
"""Click-through rate with hashed features and logistic regression (FTRL-like, numpy only)."""
import gc
import random
import sys
import time
from dataclasses import dataclass
from typing import List
from zlib import crc32

import numpy as np

DIM = 1 << 16


@dataclass
class Visit:
    country: str
    pages: List[str]
    clicked: int


def read_log(n=350000, seed=9):
    rnd = random.Random(seed)
    countries = ["de", "fr", "pl", "es", "it", "nl"]
    names = [f"/shop/{k}" for k in range(4000)]
    log = []
    for _ in range(n):
        first = int(rnd.random() * 4000)
        pages = [names[first], names[(first * 7 + 13) % 4000], names[int(rnd.random() * 4000)]]
        odds = 0.6 if first % 5 == 0 else 0.12
        log.append(Visit(countries[first % 6], pages, int(rnd.random() < odds)))
    return log


def features(visits):
    rows = np.empty((len(visits), 7), np.int64)
    for r, v in enumerate(visits):
        a, b, c = v.pages
        rows[r] = [crc32(s.encode()) % DIM for s in (v.country, a, b, c, v.country + a, a + b, b + c)]
    return rows, np.array([v.clicked for v in visits], np.float32)


class Logistic:
    def __init__(self, rate=0.15):
        self.w = np.zeros(DIM, np.float32)
        self.g2 = np.full(DIM, 1e-2, np.float32)
        self.rate = rate

    def step(self, rows, y):
        p = 1.0 / (1.0 + np.exp(-self.w[rows].sum(1)))
        err = np.repeat((p - y) / len(y), rows.shape[1])
        grad = np.bincount(rows.ravel(), weights=err, minlength=DIM).astype(np.float32)
        self.g2 += grad * grad
        self.w -= self.rate * grad / np.sqrt(self.g2)
        p = np.clip(p, 1e-6, 1 - 1e-6)
        return float(-(y * np.log(p) + (1 - y) * np.log(1 - p)).mean())


def main():
    log = read_log()
    print(f"{len(log)} visits", file=sys.stderr)
    model = Logistic()
    rnd = random.Random(1)
    started, recent = time.time(), []
    for step in range(1, 10 ** 7):
        rows, y = features(rnd.choices(log, k=512))
        recent.append(model.step(rows, y))
        del rows, y
        gc.collect()
        if step % 20 == 0:
            print(f"{time.time() - started:7.1f}s step={step} logloss={np.mean(recent):.4f}", file=sys.stderr)
            recent = []


if __name__ == "__main__":
    main()
