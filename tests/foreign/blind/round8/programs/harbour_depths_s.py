# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: A thread fills a short queue with batches and stands in put() nearly always, since the products of matrices in the training thread are
#   the work. A line comes only every few seconds.
import queue
import threading
import time

import numpy as np


class Soundings:
    """Depth of a harbour at random places, as measured by echo sounder."""

    def __init__(self, n=60000, seed=13):
        rng = np.random.default_rng(seed)
        self.place = rng.uniform(-1, 1, (n, 2)).astype(np.float32)
        waves = rng.normal(0, 3, (2, 128)).astype(np.float32)
        self.features = np.concatenate([np.sin(self.place @ waves), np.cos(self.place @ waves)], 1)
        x, y = self.place.T
        self.depth = (10 + 4 * np.sin(3 * x) * np.cos(2 * y) - 3 * x * y + rng.normal(0, 0.3, n)).astype(np.float32)
        self.depth = (self.depth - self.depth.mean()) / self.depth.std()


class Feeder(threading.Thread):
    def __init__(self, data, batch, seed=0):
        super().__init__(daemon=True, name="feeder")
        self.data, self.batch = data, batch
        self.rng = np.random.default_rng(seed)
        self.batches = queue.Queue(maxsize=3)

    def run(self):
        while True:
            rows = self.rng.integers(0, len(self.data.depth), self.batch)
            self.batches.put((self.data.features[rows], self.data.depth[rows]))


class DepthNet:
    def __init__(self, width=1024, seed=1):
        rng = np.random.default_rng(seed)
        sizes = [256, width, width, 1]
        self.w = [rng.normal(0, (2 / a) ** 0.5, (a, b)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
        self.v = [np.zeros_like(w) for w in self.w]

    def step(self, x, y, lr=0.002, momentum=0.9):
        h1 = np.maximum(x @ self.w[0], 0)
        h2 = np.maximum(h1 @ self.w[1], 0)
        error = (h2 @ self.w[2])[:, 0] - y
        g3 = error[:, None] * np.float32(2 / len(y))
        g2 = (g3 @ self.w[2].T) * (h2 > 0)
        g1 = (g2 @ self.w[1].T) * (h1 > 0)
        for w, v, d in zip(self.w, self.v, (x.T @ g1, h1.T @ g2, h2.T @ g3)):
            v *= momentum
            v -= lr * d
            w += v
        return float(np.mean(error ** 2))


def main():
    feeder = Feeder(Soundings(), batch=768)
    feeder.start()
    net = DepthNet()
    losses, told = [], time.time()
    for step in range(1, 10_000_000):
        x, y = feeder.batches.get()
        losses.append(net.step(x, y))
        if time.time() - told > 4:
            print(f"step {step}: mse {np.mean(losses):.4f}, {len(losses) / (time.time() - told):.1f} steps/s", flush=True)
            losses, told = [], time.time()


if __name__ == "__main__":
    main()
