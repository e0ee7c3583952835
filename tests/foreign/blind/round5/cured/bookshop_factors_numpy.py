# python: plain
# expected: garbage-collection [also accepted: hot-line]
# verdict: slow
# seconds: 25
# where: gc.collect
# Why: A full collection after every step walks over a million purchase objects that are never garbage; it takes longer than the step.
import random
import sys
import time
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Purchase:
    customer: int
    book: int
    stars: float
    tags: list = field(default_factory=list)


def read_purchases(n, customers, books):
    rnd = random.Random(2)
    taste = [rnd.gauss(0, 1) for _ in range(customers)]
    genre = [rnd.gauss(0, 1) for _ in range(books)]
    rows = []
    for _ in range(n):
        c, b = rnd.randrange(customers), int(books * rnd.random() ** 2)
        stars = 3 + taste[c] * genre[b] + rnd.gauss(0, 0.3)
        rows.append(Purchase(c, b, stars, [b % 7]))
    return rows


class FactorModel:
    def __init__(self, customers, books, k=48, lr=0.02):
        rng = np.random.default_rng(0)
        self.u = rng.normal(0, 0.2, (customers, k)).astype(np.float32)
        self.v = rng.normal(0, 0.2, (books, k)).astype(np.float32)
        self.gu, self.gv = np.full_like(self.u, 1e-3), np.full_like(self.v, 1e-3)
        self.lr = lr

    def _adagrad(self, table, acc, rows, grad):
        total = np.zeros_like(table)
        np.add.at(total, rows, grad)
        acc += total ** 2
        table -= self.lr * total / np.sqrt(acc)

    def fit_batch(self, c, b, y):
        uc, vb = self.u[c], self.v[b]
        err = (uc * vb).sum(1) + 3.0 - y
        g = err[:, None]
        self._adagrad(self.u, self.gu, c, g * vb)
        self._adagrad(self.v, self.gv, b, g * uc)
        return float((err ** 2).mean())


def minibatch(purchases, rnd, size):
    chosen = rnd.sample(purchases, size)
    return (np.fromiter((p.customer for p in chosen), np.int64, size), np.fromiter((p.book for p in chosen), np.int64, size),
            np.fromiter((p.stars for p in chosen), np.float32, size))


if __name__ == "__main__":
    customers, books = 4000, 2500
    purchases = read_purchases(400_000, customers, books)
    model, rnd = FactorModel(customers, books), random.Random(1)
    print(f"{len(purchases)} purchases", file=sys.stderr)
    smooth, t0 = None, time.time()
    for step in range(1, 1_000_000):
        c, b, y = minibatch(purchases, rnd, 1024)
        loss = model.fit_batch(c, b, y)
        smooth = loss if smooth is None else 0.98 * smooth + 0.02 * loss
        if step % 20 == 0:
            sys.stderr.write(f"step {step:6d}  mse {smooth:.4f}  {step / (time.time() - t0):.1f} it/s\n")
