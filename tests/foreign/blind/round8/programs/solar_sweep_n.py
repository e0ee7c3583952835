# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the main process starts one training per learning rate and waits; the two children do the work, one core each.
import multiprocessing as mp
import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

FEATURES = 48


def panels(count, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, FEATURES)).astype(np.float32)
    sun = np.maximum(x[:, 0] + 0.4 * x[:, 1], 0) * (1 - 0.3 * np.tanh(x[:, 2]) ** 2)
    return x, (sun + 0.1 * rng.normal(size=count)).astype(np.float32)[:, None]


class Net:
    def __init__(self, sizes, rng):
        self.w = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
        self.b = [np.zeros(b, np.float32) for b in sizes[1:]]
        self.vw = [np.zeros_like(w) for w in self.w]
        self.vb = [np.zeros_like(b) for b in self.b]

    def forward(self, x):
        acts = [x]
        for k, (w, b) in enumerate(zip(self.w, self.b)):
            x = x @ w + b
            if k < len(self.w) - 1:
                x = np.maximum(x, 0)
            acts.append(x)
        return acts

    def learn(self, x, y, rate):
        acts = self.forward(x)
        delta = (acts[-1] - y) / len(x)
        loss = float(np.mean((acts[-1] - y) ** 2))
        for k in reversed(range(len(self.w))):
            gw, gb = acts[k].T @ delta, delta.sum(axis=0)
            if k:
                delta = (delta @ self.w[k].T) * (acts[k] > 0)
            self.vw[k] = 0.9 * self.vw[k] - rate * gw
            self.vb[k] = 0.9 * self.vb[k] - rate * gb
            self.w[k] += self.vw[k]
            self.b[k] += self.vb[k]
        return loss


def trial(rate, seconds):
    rng = np.random.default_rng(0)
    x, y = panels(20000, 1)
    net = Net([FEATURES, 512, 512, 256, 1], rng)
    began, step, mean = time.time(), 0, None
    while time.time() - began < seconds:
        rows = rng.integers(0, len(x), 256)
        loss = net.learn(x[rows], y[rows], rate)
        mean = loss if mean is None else 0.95 * mean + 0.05 * loss
        step += 1
        if step % 50 == 0:
            print(f"[lr {rate:g}] step {step} loss {mean:.4f}", flush=True)
    print(f"[lr {rate:g}] finished, loss {mean:.4f}", flush=True)


if __name__ == "__main__":
    rates = [0.01, 0.005, 0.003, 0.002, 0.001, 0.0005]
    while rates:
        pair = [mp.Process(target=trial, args=(rates.pop(0), 120)) for _ in range(2)]
        for process in pair:
            process.start()
        for process in pair:
            process.join()
