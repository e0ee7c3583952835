# python: plain
# expected: host-memory-leak
# verdict: slow
# seconds: 30
# where: lru_cache
# Why: an unbounded lru_cache keeps every random crop that was ever cut; the crops hardly ever repeat, so memory grows every step.
"""Coral cover from photographs of reef transects: random patches of large photographs, a two-layer network in NumPy."""
import functools
import time

import numpy as np

SIDE, PATCH, KINDS = 384, 20, 6
rng = np.random.default_rng(11)


def photograph(kind):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    base = np.zeros((SIDE, SIDE, 3))
    for channel in range(3):
        fx, fy = 6 + 5 * kind + 3 * channel, 50 - 6 * kind + channel
        base[:, :, channel] = 110 + 60 * np.sin(fx * xx * 6 + rng.uniform(0, 6)) * np.cos(fy * yy * 3)
    return np.clip(base + rng.normal(0, 35, base.shape), 0, 255).astype(np.uint8)


labels = np.arange(60) % KINDS
photos = [photograph(k) for k in labels]


@functools.lru_cache(maxsize=None)
def cut(photo, top, left, flip):
    piece = photos[photo][top:top + PATCH, left:left + PATCH].astype(np.float32) / 127.5 - 1
    if flip:
        piece = piece[:, ::-1]
    piece = piece - piece.mean((0, 1))
    return np.ascontiguousarray(piece).ravel()


def draw(n):
    photo = rng.integers(0, len(photos), n)
    top, left = rng.integers(0, SIDE - PATCH, (2, n))
    flip = rng.integers(0, 2, n)
    x = np.stack([cut(int(a), int(b), int(c), int(d)) for a, b, c, d in zip(photo, top, left, flip)])
    return x, labels[photo]


class Net:
    def __init__(self, inputs, hidden, outputs):
        self.p = {"w1": rng.normal(0, np.sqrt(2 / inputs), (inputs, hidden)).astype(np.float32),
                  "b1": np.zeros(hidden, np.float32),
                  "w2": rng.normal(0, np.sqrt(1 / hidden), (hidden, hidden)).astype(np.float32),
                  "b2": np.zeros(hidden, np.float32),
                  "w3": rng.normal(0, np.sqrt(1 / hidden), (hidden, outputs)).astype(np.float32),
                  "b3": np.zeros(outputs, np.float32)}
        self.momentum = {k: np.zeros_like(v) for k, v in self.p.items()}

    def train(self, x, y, lr):
        p = self.p
        h1 = np.maximum(x @ p["w1"] + p["b1"], 0)
        h2 = np.maximum(h1 @ p["w2"] + p["b2"], 0)
        z = h2 @ p["w3"] + p["b3"]
        z -= z.max(1, keepdims=True)
        prob = np.exp(z)
        prob /= prob.sum(1, keepdims=True)
        loss = -np.log(prob[np.arange(len(y)), y] + 1e-9).mean()
        right = (prob.argmax(1) == y).mean()
        d3 = prob
        d3[np.arange(len(y)), y] -= 1
        d3 /= len(y)
        d2 = (d3 @ p["w3"].T) * (h2 > 0)
        d1 = (d2 @ p["w2"].T) * (h1 > 0)
        grads = {"w3": h2.T @ d3, "b3": d3.sum(0), "w2": h1.T @ d2, "b2": d2.sum(0), "w1": x.T @ d1, "b1": d1.sum(0)}
        for k, g in grads.items():
            self.momentum[k] = 0.9 * self.momentum[k] - lr * g
            p[k] += self.momentum[k]
        return float(loss), float(right)


def main():
    net = Net(PATCH * PATCH * 3, 768, KINDS)
    start, mean_loss = time.time(), None
    for step in range(1, 100001):
        x, y = draw(96)
        loss, right = net.train(x, y, 0.01)
        mean_loss = loss if mean_loss is None else 0.95 * mean_loss + 0.05 * loss
        if step % 20 == 0:
            print(f"step {step:6d}  loss {mean_loss:.4f}  right {right:.2f}  {step * 96 / (time.time() - start):.0f} patches/s",
                  flush=True)


if __name__ == "__main__":
    main()
