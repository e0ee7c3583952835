# python: plain
# expected: hot-line
# verdict: slow
# seconds: 25
# where: np.add.at
# Why: the gradients of the vectors are scattered with np.add.at, which handles each number by itself and takes most of the step.
import time

import numpy as np

INGREDIENTS = 15000
WIDTH = 64
PAIRS = 1024
NEGATIVES = 5


class Cookbook:
    """Pairs of ingredients that stand in the same recipe."""

    def __init__(self, recipes=30000, length=9, seed=0):
        rng = np.random.default_rng(seed)
        cuisine = rng.integers(0, 30, recipes)
        popular = np.minimum(rng.zipf(1.3, (recipes, length)) - 1, INGREDIENTS // 30 - 1)
        self.recipes = cuisine[:, None] * (INGREDIENTS // 30) + popular
        self.rng = rng

    def batch(self):
        rows = self.rng.integers(0, len(self.recipes), PAIRS)
        left = self.rng.integers(0, self.recipes.shape[1], PAIRS)
        right = self.rng.integers(0, self.recipes.shape[1], PAIRS)
        centre = self.recipes[rows, left]
        context = np.empty((PAIRS, 1 + NEGATIVES), dtype=np.int64)
        context[:, 0] = self.recipes[rows, right]
        context[:, 1:] = self.rng.integers(0, INGREDIENTS, (PAIRS, NEGATIVES))
        return centre, context


def add_rows(table, rows, values):
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
    table[rows[starts]] += np.add.reduceat(values[order], starts, axis=0)


class Vectors:
    def __init__(self, rng):
        self.inner = rng.normal(0, 0.1, (INGREDIENTS, WIDTH)).astype(np.float32)
        self.outer = rng.normal(0, 0.1, (INGREDIENTS, WIDTH)).astype(np.float32)
        self.target = np.zeros((PAIRS, 1 + NEGATIVES), dtype=np.float32)
        self.target[:, 0] = 1.0

    def step(self, centre, context, rate):
        v = self.inner[centre]
        u = self.outer[context]
        score = np.einsum("pw,pnw->pn", v, u)
        chance = 1.0 / (1.0 + np.exp(-score))
        error = chance - self.target
        loss = -np.log(np.where(self.target > 0, chance, 1 - chance) + 1e-7).sum(axis=1).mean()
        grad_v = np.einsum("pn,pnw->pw", error, u)
        grad_u = error[:, :, None] * v[:, None, :]
        add_rows(self.inner, centre, -rate * grad_v)
        add_rows(self.outer, context.ravel(), -rate * grad_u.reshape(-1, WIDTH))
        return loss


def main():
    book = Cookbook()
    vectors = Vectors(np.random.default_rng(1))
    smooth, began = None, time.perf_counter()
    step = 0
    while True:
        step += 1
        loss = vectors.step(*book.batch(), rate=0.05)
        smooth = loss if smooth is None else 0.98 * smooth + 0.02 * loss
        if step % 50 == 0:
            words = step * PAIRS / (time.perf_counter() - began)
            print(f"step {step:7d}  loss {smooth:.4f}  {words:,.0f} pairs/s", flush=True)


if __name__ == "__main__":
    main()
