"""Grades tea from twenty measurements with a deep network written out in NumPy."""
import argparse

import numpy as np


def activation(z):
    return np.tanh(z)


def slope(a):
    return 1.0 - a * a


class DeepNet:
    def __init__(self, sizes, seed=1):
        rng = np.random.default_rng(seed)
        self.w = [rng.normal(0, np.sqrt(2.0 / (a + b)), (a, b)) for a, b in zip(sizes[:-1], sizes[1:])]
        self.b = [np.zeros(b) for b in sizes[1:]]
        self.mw = [np.zeros_like(w) for w in self.w]
        self.mb = [np.zeros_like(b) for b in self.b]

    def forward(self, x):
        acts = [x]
        for w, b in zip(self.w[:-1], self.b[:-1]):
            acts.append(activation(acts[-1] @ w + b))
        z = acts[-1] @ self.w[-1] + self.b[-1]
        z -= z.max(1, keepdims=True)
        p = np.exp(z)
        return acts, p / p.sum(1, keepdims=True)

    def train(self, x, y, rate, momentum=0.9):
        acts, p = self.forward(x)
        loss = -np.log(p[np.arange(len(y)), y] + 1e-12).mean()
        delta = p
        delta[np.arange(len(y)), y] -= 1
        delta /= len(y)
        norms = []
        for i in reversed(range(len(self.w))):
            gw, gb = acts[i].T @ delta, delta.sum(0)
            norms.append(np.sqrt((gw * gw).sum()))
            if i:
                delta = (delta @ self.w[i].T) * slope(acts[i])
            self.mw[i] = momentum * self.mw[i] - rate * gw
            self.mb[i] = momentum * self.mb[i] - rate * gb
            self.w[i] += self.mw[i]
            self.b[i] += self.mb[i]
        return loss, norms[::-1]


def tea(n, seed=9):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n, 20))
    score = np.stack([np.tanh(x @ rng.normal(0, 0.5, 20)) + 0.5 * x[:, k] for k in range(5)], 1)
    return x, score.argmax(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--steps", type=int, default=400000)
    args = parser.parse_args()
    x, y = tea(20000)
    net = DeepNet([20] + [args.width] * args.depth + [5])
    rng = np.random.default_rng(0)
    for step in range(args.steps):
        i = rng.integers(0, len(x), 32)
        loss, norms = net.train(x[i], y[i], args.rate)
        if step % 100 == 0:
            shown = " ".join(f"{v:.1e}" for v in norms[::3])
            print(f"step {step:6d}  loss {loss:.4f}  gradient norms by layer: {shown}", flush=True)


if __name__ == "__main__":
    main()
