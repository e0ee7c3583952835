# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: A thread prepares the next batches and stands at its full queue nearly all the time; the matrix products of the model are the work.
import queue
import tempfile
import threading
import time
from pathlib import Path

import numpy as np


def record_gauges(path, hours=20000, stations=40):
    rng = np.random.default_rng(0)
    rain = rng.gamma(0.3, 2.0, (hours, stations)).astype(np.float32)
    level = np.zeros_like(rain)
    for t in range(1, hours):
        level[t] = 0.97 * level[t - 1] + 0.1 * rain[t]
    np.save(path, level)


class BatchFeeder(threading.Thread):
    def __init__(self, path, batch, window=16):
        super().__init__(daemon=True, name="feeder")
        self.levels = np.load(path, mmap_mode="r")
        self.mean, self.std = self.levels[:5000].mean(0), self.levels[:5000].std(0)
        self.batch, self.window = batch, window
        self.ready = queue.Queue(maxsize=3)

    def run(self):
        rng = np.random.default_rng(1)
        span = np.arange(self.window)
        while True:
            start = rng.integers(0, len(self.levels) - self.window - 6, self.batch)
            x = (self.levels[start[:, None] + span] - self.mean) / self.std
            y = (self.levels[start + self.window + 5] - self.mean) / self.std
            self.ready.put((x.reshape(self.batch, -1), y))


class Net:
    def __init__(self, sizes, lr=0.01):
        rng = np.random.default_rng(2)
        self.w = [rng.normal(0, (2 / a) ** 0.5, (a, b)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
        self.w[-1] *= 0.1
        self.m = [np.zeros_like(w) for w in self.w]
        self.lr = lr

    def train_batch(self, x, y):
        acts = [x]
        for w in self.w[:-1]:
            acts.append(np.maximum(acts[-1] @ w, 0))
        err = acts[-1] @ self.w[-1] - y
        loss = float(np.mean(err ** 2))
        delta = err / len(x)
        for k in range(len(self.w) - 1, -1, -1):
            grad = acts[k].T @ delta
            if k:
                delta = (delta @ self.w[k].T) * (acts[k] > 0)
            self.m[k] *= 0.9
            self.m[k] += grad
            self.w[k] -= self.lr * self.m[k]
        return loss


def main():
    path = Path(tempfile.mkdtemp(prefix="gauges_")) / "levels.npy"
    record_gauges(path)
    feeder = BatchFeeder(path, batch=512)
    feeder.start()
    net = Net([640, 600, 600, 40])
    t0, smooth = time.time(), None
    for i in range(1, 10**7):
        loss = net.train_batch(*feeder.ready.get())
        smooth = loss if smooth is None else 0.9 * smooth + 0.1 * loss
        if i % 15 == 0:
            print(f"batch {i}, mse {smooth:.4f}, {i / (time.time() - t0):.2f} batches per second", flush=True)


if __name__ == "__main__":
    main()
