# python: plain
# The twin without the fault.
import functools
import random
import time

import numpy as np

SIDE = 40
BATCH = 10
LAND_USE = ("water", "forest", "field", "town")


def survey(n_sheets=6, size=900):
    rng = np.random.default_rng(2)
    sheets, masks = [], []
    for _ in range(n_sheets):
        coarse = rng.integers(0, len(LAND_USE), (size // 90, size // 90))
        mask = np.kron(coarse, np.ones((90, 90), dtype=np.int64))
        colour = np.array([[20, 40, 120], [20, 90, 30], [150, 140, 60], [130, 120, 120]])[mask]
        sheets.append(np.clip(colour + rng.normal(0, 35, colour.shape), 0, 255).astype(np.uint8))
        masks.append(mask)
    return sheets, masks


SHEETS, MASKS = survey()


@functools.lru_cache(maxsize=512)
def tile(sheet, row, col, turns):
    part = SHEETS[sheet][row:row + SIDE, col:col + SIDE].astype(np.float32) / 255.0
    return np.ascontiguousarray(np.rot90(part, turns))


def next_batch():
    x = np.empty((BATCH, SIDE * SIDE * 3), np.float32)
    y = np.empty(BATCH, np.int64)
    for k in range(BATCH):
        sheet = random.randrange(len(SHEETS))
        limit = SHEETS[sheet].shape[0] - SIDE
        row, col = random.randrange(limit), random.randrange(limit)
        x[k] = tile(sheet, row, col, random.randrange(4)).ravel()
        y[k] = MASKS[sheet][row + SIDE // 2, col + SIDE // 2]
    return x, y


class Network:
    def __init__(self, sizes, lr):
        rng = np.random.default_rng(0)
        self.w = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
        self.v = [np.zeros_like(w) for w in self.w]
        self.lr = lr

    def step(self, x, y):
        acts = [x - 0.4]
        for w in self.w[:-1]:
            acts.append(np.maximum(acts[-1] @ w, 0))
        z = acts[-1] @ self.w[-1]
        z -= z.max(1, keepdims=True)
        p = np.exp(z)
        p /= p.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
        d = p
        d[np.arange(len(y)), y] -= 1
        d /= len(y)
        for i in reversed(range(len(self.w))):
            grad = acts[i].T @ d
            if i:
                d = (d @ self.w[i].T) * (acts[i] > 0)
            self.v[i] *= 0.9
            self.v[i] += grad
            self.w[i] -= self.lr * self.v[i]
        return loss, (p.argmax(1) == y).mean()


net = Network([SIDE * SIDE * 3, 512, 128, len(LAND_USE)], lr=5e-4)
smooth = None
for it in range(1, 10 ** 6):
    x, y = next_batch()
    loss, _ = net.step(x, y)
    smooth = loss if smooth is None else 0.98 * smooth + 0.02 * loss
    if it % 25 == 0:
        print(time.strftime("%H:%M:%S"), "iteration", it, "loss %.4f" % smooth, flush=True)
