# python: plain
# expected: per-pixel-python [also accepted: input-bound, hot-line]
# verdict: slow
# seconds: 25
# where: for x in range(SIDE)
# how: attach
# Why: contrast and colour of each photo are changed pixel by pixel in Python; the network's own arithmetic is a small part of a step.
"""Tells harmless moles from the others: photos drawn in NumPy, varied in contrast, one hidden layer."""
import time

import numpy as np

SIDE, BATCH = 32, 16
rng = np.random.default_rng(31)


def draw_photos(n):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    label = rng.integers(0, 2, n)
    photos = np.empty((n, SIDE, SIDE, 3), np.uint8)
    for k in range(n):
        cx, cy = rng.uniform(12, 20, 2)
        angle = np.arctan2(yy - cy, xx - cx)
        edge = 7 + label[k] * 2.5 * np.sin(3 * angle + rng.uniform(0, 6.3))
        inside = np.hypot(xx - cx, yy - cy) < edge
        skin = np.array([214, 170, 140]) + rng.normal(0, 8, (SIDE, SIDE, 3))
        photos[k] = np.clip(np.where(inside[..., None], skin * 0.45, skin), 0, 255)
    return photos, label


def vary(photo):
    gain, shift = rng.uniform(0.8, 1.2), rng.uniform(-15, 15)
    warm = rng.uniform(0.95, 1.05)
    out = np.empty((SIDE, SIDE, 3))
    for y in range(SIDE):
        for x in range(SIDE):
            r, g, b = photo[y, x]
            r = min(255.0, max(0.0, (r - 128.0) * gain * warm + 128.0 + shift))
            g = min(255.0, max(0.0, (g - 128.0) * gain + 128.0 + shift))
            b = min(255.0, max(0.0, (b - 128.0) * gain / warm + 128.0 + shift))
            out[y, x] = r, g, b
    return out / 127.5 - 1.0


def batches(photos, label):
    while True:
        pick = rng.integers(0, len(photos), BATCH)
        yield np.stack([vary(photos[i]) for i in pick]).reshape(BATCH, -1), label[pick].astype(float)


class Network:
    def __init__(self, inputs, hidden=128, rate=0.01):
        self.w1, self.b1 = rng.normal(0, np.sqrt(2 / inputs), (inputs, hidden)), np.zeros(hidden)
        self.w2, self.b2 = rng.normal(0, np.sqrt(1 / hidden), hidden), 0.0
        self.rate = rate

    def step(self, x, y):
        h = np.maximum(0, x @ self.w1 + self.b1)
        p = 1 / (1 + np.exp(-np.clip(h @ self.w2 + self.b2, -30, 30)))
        g = (p - y) / len(y)
        gh = np.outer(g, self.w2) * (h > 0)
        self.w2 -= self.rate * h.T @ g
        self.b2 -= self.rate * g.sum()
        self.w1 -= self.rate * x.T @ gh
        self.b1 -= self.rate * gh.sum(0)
        return -np.mean(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9)), np.mean((p > 0.5) == y)


if __name__ == "__main__":
    photos, label = draw_photos(3000)
    net = Network(SIDE * SIDE * 3)
    began, losses, hits = time.time(), [], []
    for step, (x, y) in enumerate(batches(photos, label), 1):
        loss, right = net.step(x, y)
        losses.append(loss)
        hits.append(right)
        if step % 10 == 0:
            print(f"step {step:5d}  loss {np.mean(losses):.4f}  accuracy {np.mean(hits):.3f}  {time.time() - began:.0f} s", flush=True)
            losses.clear()
            hits.clear()
        if step == 100000:
            break
