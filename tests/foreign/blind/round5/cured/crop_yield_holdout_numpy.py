# python: plain
# expected: waits-for-pipe
# verdict: stuck
# seconds: 25
# how: attach
# where: proc.wait / print(
# Why: The parent waits for its scoring process to end before it reads the pipe; the child prints more than a pipe holds and waits for a reader.
import os
import subprocess
import sys
import tempfile

import numpy as np

FIELDS, FEATURES = 9000, 24


def fields(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, FEATURES)).astype(np.float32)
    w = np.random.default_rng(99).normal(size=(FEATURES, 3))
    h = np.tanh(x @ w)
    y = 6 + h[:, 0] * h[:, 1] + 0.8 * h[:, 2] + rng.normal(0, 0.1, n)
    return x, y.astype(np.float32)[:, None]


class Net:
    def __init__(self, hidden=96, seed=0):
        rng = np.random.default_rng(seed)
        self.p = [rng.normal(0, FEATURES ** -0.5, (FEATURES, hidden)), np.zeros(hidden),
                  rng.normal(0, hidden ** -0.5, (hidden, hidden)), np.zeros(hidden),
                  rng.normal(0, hidden ** -0.5, (hidden, 1)), np.zeros(1) + 6]
        self.m = [np.zeros_like(q) for q in self.p]

    def forward(self, x):
        a = np.maximum(x @ self.p[0] + self.p[1], 0)
        b = np.maximum(a @ self.p[2] + self.p[3], 0)
        return a, b, b @ self.p[4] + self.p[5]

    def step(self, x, y, lr=0.003):
        a, b, out = self.forward(x)
        d = 2 * (out - y) / len(x)
        db = (d @ self.p[4].T) * (b > 0)
        da = (db @ self.p[2].T) * (a > 0)
        grads = [x.T @ da, da.sum(0), a.T @ db, db.sum(0), b.T @ d, d.sum(0)]
        for q, m, g in zip(self.p, self.m, grads):
            m *= 0.9
            m += g
            q -= lr * m
        return float(((out - y) ** 2).mean())


def score(path):
    net = Net()
    with np.load(path) as f:
        net.p = [f[f"arr_{i}"] for i in range(6)]
    x, y = fields(2, FIELDS)
    pred = net.forward(x)[2]
    for i in range(len(x)):
        print(f"{i},{y[i, 0]:.3f},{pred[i, 0]:.3f}")


def holdout_error(net, folder):
    path = os.path.join(folder, "weights.npz")
    np.savez(path, *net.p)
    proc = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--score", path], stdout=subprocess.PIPE, text=True)
    out, _ = proc.communicate()
    if proc.returncode != 0:
        raise RuntimeError("scoring failed")
    table = np.array([line.split(",") for line in out.splitlines()], dtype=float)
    return float(np.abs(table[:, 1] - table[:, 2]).mean())


def main():
    net, rng = Net(), np.random.default_rng(5)
    x, y = fields(1, 40000)
    with tempfile.TemporaryDirectory() as folder:
        for step in range(1, 10 ** 6):
            rows = rng.integers(0, len(x), 256)
            mse = net.step(x[rows], y[rows])
            if step % 50 == 0:
                print(f"step {step} mse {mse:.4f}", flush=True)
            if step % 500 == 0:
                print(f"step {step} holdout error {holdout_error(net, folder):.4f} t/ha", flush=True)


if __name__ == "__main__":
    score(sys.argv[2]) if len(sys.argv) > 2 else main()
