# python: plain
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: A large network in numpy with one line every 25 large steps: long silences, steady work in the products of matrices.
import sys
import time

import numpy as np

rng = np.random.default_rng(64)
T = 512


def traces(n):
    t = np.arange(T) / 100.0
    arrive = rng.uniform(0.5, 3.5, (n, 1))
    freq = rng.uniform(2, 12, (n, 1))
    wave = np.where(t > arrive, np.exp(-(t - arrive)) * np.sin(6.283 * freq * (t - arrive)), 0)
    return (wave + rng.normal(0, 0.05, (n, T))).astype(np.float32)


class Dense:
    def __init__(self, a, b, act=True):
        self.w = (rng.normal(0, 1, (a, b)) * np.sqrt(1.5 / a)).astype(np.float32)
        self.b = np.zeros(b, np.float32)
        self.act = act
        self.m = [np.zeros_like(self.w), np.zeros_like(self.b)]

    def forward(self, x):
        self.x = x
        self.y = x @ self.w + self.b
        if self.act:
            np.maximum(self.y, 0.1 * self.y, out=self.y)
        return self.y

    def backward(self, g, lr):
        if self.act:
            g = g * np.where(self.y > 0, np.float32(1), np.float32(0.1))
        back = g @ self.w.T
        for p, m, grad in ((self.w, self.m[0], self.x.T @ g), (self.b, self.m[1], g.sum(0))):
            m *= 0.9
            m += grad
            p -= lr * m
        return back


class Autoencoder:
    def __init__(self, sizes=(T, 448, 256, 32)):
        down = [Dense(a, b) for a, b in zip(sizes, sizes[1:])]
        up = [Dense(b, a, act=a != T) for a, b in zip(sizes, sizes[1:])][::-1]
        self.layers = down + up

    def train_batch(self, x, lr):
        out = x
        for layer in self.layers:
            out = layer.forward(out)
        diff = out - x
        g = diff * (2.0 / len(x) / 8)
        for layer in reversed(self.layers):
            g = layer.backward(g, lr)
        return float(np.mean(diff ** 2))


def main():
    data = traces(16384)
    net = Autoencoder()
    window, start = [], time.time()
    step = 0
    while True:
        order = rng.permutation(len(data))
        for i in range(0, len(order), 2048):
            window.append(net.train_batch(data[order[i:i + 2048]], lr=0.02))
            step += 1
            if step % 25 == 0:
                print(f"{step} steps, {time.time() - start:.0f} s, reconstruction {np.mean(window):.5f}", file=sys.stderr)
                window = []


if __name__ == "__main__":
    main()
