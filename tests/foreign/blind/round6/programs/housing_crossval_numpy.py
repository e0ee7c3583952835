# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the main process only waits for two children, one per fold, which train with one BLAS thread each on two cores: just right.
"""House prices, cross-validated: every fold is trained by a process of its own."""
import os

os.environ["OMP_NUM_THREADS"] = "1"  # one core per fold

import multiprocessing as mp
import time

import numpy as np

FOLDS = 4
EPOCHS = 4000
BATCH = 256


def houses(n=12000, width=64):
    rng = np.random.default_rng(12)
    x = rng.normal(size=(n, width)).astype(np.float32)
    w = rng.normal(size=(width, 6)).astype(np.float32) / 8
    y = np.tanh(x @ w).sum(1, keepdims=True) + 0.2 * rng.standard_t(4, (n, 1)).astype(np.float32)
    return x, y.astype(np.float32)


class Net:
    def __init__(self, sizes, seed):
        rng = np.random.default_rng(seed)
        self.w = [rng.normal(0, (2 / a) ** 0.5, (a, b)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
        self.b = [np.zeros(b, np.float32) for b in sizes[1:]]
        self.m = [np.zeros_like(p) for p in self.w + self.b]

    def forward(self, x):
        acts = [x]
        for k, (w, b) in enumerate(zip(self.w, self.b)):
            x = x @ w + b
            if k < len(self.w) - 1:
                np.maximum(x, 0, out=x)
            acts.append(x)
        return acts

    def step(self, x, y, rate):
        acts = self.forward(x)
        d = (acts[-1] - y) / len(y)
        gw, gb = [], []
        for k in range(len(self.w) - 1, -1, -1):
            gw.insert(0, acts[k].T @ d)
            gb.insert(0, d.sum(0))
            if k:
                d = (d @ self.w[k].T) * (acts[k] > 0)
        for p, g, m in zip(self.w + self.b, gw + gb, self.m):
            m *= 0.9
            m += g
            p -= rate * m
        return float(((acts[-1] - y) ** 2).mean())


def train_fold(fold):
    x, y = houses()
    held = np.arange(len(x)) % FOLDS == fold
    tx, ty, vx, vy = x[~held], y[~held], x[held], y[held]
    net = Net([64, 512, 384, 1], fold)
    rng = np.random.default_rng(fold)
    best = np.inf
    for epoch in range(1, EPOCHS + 1):
        losses = []
        for pick in np.array_split(rng.permutation(len(tx)), len(tx) // BATCH):
            losses.append(net.step(tx[pick], ty[pick], 3e-3))
        val = float(((net.forward(vx)[-1] - vy) ** 2).mean())
        best = min(best, val)
        print(f"fold {fold} epoch {epoch:4d} train {np.mean(losses):.4f} val {val:.4f} best {best:.4f}", flush=True)
    return fold, best


if __name__ == "__main__":
    began = time.time()
    with mp.get_context("spawn").Pool(2) as pool:
        for fold, best in pool.imap_unordered(train_fold, range(FOLDS)):
            print(f"fold {fold} done, best {best:.4f} after {time.time() - began:.0f}s", flush=True)
