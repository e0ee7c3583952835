# python: plain
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the main process only waits for messages of two children, each training one member of the ensemble on one core.
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import multiprocessing as mp  # noqa: E402

import numpy as np  # noqa: E402

MEMBERS = 2
INPUTS = 30
WIDTH = 320
BATCH = 512


def turbine_log(n=40000):
    rng = np.random.default_rng(33)
    x = rng.normal(size=(n, INPUTS)).astype(np.float32)
    wind = np.abs(x[:, 0] * 4 + 8)
    power = 1 / (1 + np.exp(-(wind - 9))) + 0.1 * np.sin(2 * x[:, 1]) * x[:, 2] + 0.05 * rng.normal(size=n)
    return x, power.astype(np.float32)[:, None]


class Member:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        sizes = [INPUTS, WIDTH, WIDTH, 1]
        self.w = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
        self.b = [np.zeros(b, np.float32) for b in sizes[1:]]
        self.m = [np.zeros_like(v) for v in self.w + self.b]
        self.v = [np.zeros_like(v) for v in self.w + self.b]
        self.t = 0

    def step(self, x, y, lr=1e-3):
        acts = [x]
        for w, b in zip(self.w[:-1], self.b[:-1]):
            acts.append(np.maximum(acts[-1] @ w + b, 0))
        out = acts[-1] @ self.w[-1] + self.b[-1]
        d = 2 * (out - y) / len(x)
        gw, gb = [], []
        for i in (2, 1, 0):
            gw.insert(0, acts[i].T @ d)
            gb.insert(0, d.sum(0))
            if i:
                d = (d @ self.w[i].T) * (acts[i] > 0)
        self.t += 1
        for k, (p, g) in enumerate(zip(self.w + self.b, gw + gb)):
            self.m[k] += 0.1 * (g - self.m[k])
            self.v[k] += 0.001 * (g * g - self.v[k])
            mh = self.m[k] / (1 - 0.9 ** self.t)
            vh = self.v[k] / (1 - 0.999 ** self.t)
            p -= lr * mh / (np.sqrt(vh) + 1e-8)
        return float(np.mean((out - y) ** 2))


def train_member(seed, reports):
    x, y = turbine_log()
    rng = np.random.default_rng(1000 + seed)
    member = Member(seed)
    for epoch in range(1, 2001):
        boot = rng.integers(0, len(x), len(x))
        losses = [member.step(x[boot[i:i + BATCH]], y[boot[i:i + BATCH]])
                  for i in range(0, len(x) - BATCH + 1, BATCH)]
        reports.put((seed, epoch, len(losses), float(np.mean(losses))))
    reports.put((seed, None, 0, 0.0))


def main():
    reports = mp.Queue()
    children = [mp.Process(target=train_member, args=(s, reports), daemon=True) for s in range(MEMBERS)]
    for c in children:
        c.start()
    running = len(children)
    while running:
        seed, epoch, steps, loss = reports.get()
        if epoch is None:
            running -= 1
            continue
        print(f"member {seed} epoch {epoch} steps {epoch * steps} loss {loss:.5f}", flush=True)
    for c in children:
        c.join()


if __name__ == "__main__":
    main()
