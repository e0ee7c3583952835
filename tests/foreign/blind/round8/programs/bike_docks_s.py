# python: plain
# expected: host-memory-leak
# verdict: healthy|slow
# seconds: 35
# where: lru_cache / weeks_before / return window
# Why: The function that cuts windows is cached without a limit, and almost every (station, hour) is new: each sample ever made stays in memory.
from functools import lru_cache

import numpy as np

HOURS = 24 * 120
STATIONS = 300
LOOK_BACK = 24 * 42


def simulate():
    rng = np.random.default_rng(12)
    hour = np.arange(HOURS)
    base = 10 + 6 * np.sin(2 * np.pi * hour / 24) + 3 * np.sin(2 * np.pi * hour / 168)
    scale = rng.uniform(0.3, 2.0, (STATIONS, 1))
    shift = rng.integers(0, 6, STATIONS)
    docks = np.stack([np.roll(base, s) for s in shift]) * scale
    return rng.poisson(np.clip(docks, 0.1, None)).astype(np.float32)


DOCKS = simulate()


@lru_cache(maxsize=None)
def weeks_before(station, hour):
    window = DOCKS[station, hour - LOOK_BACK:hour]
    window = np.log1p(window)
    window = (window - window.mean()) / (window.std() + 1e-3)
    return window


class Network:
    def __init__(self, sizes, rng):
        self.layers = [[rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32), np.zeros(b, np.float32)]
                       for a, b in zip(sizes[:-1], sizes[1:])]
        self.moments = [[np.zeros_like(w), np.zeros_like(b)] for w, b in self.layers]

    def train(self, x, y, lr):
        inputs = []
        for k, (w, b) in enumerate(self.layers):
            inputs.append(x)
            x = x @ w + b
            if k < len(self.layers) - 1:
                x = np.maximum(x, 0)
        error = x[:, 0] - y
        grad = (2 * error / len(y))[:, None].astype(np.float32)
        for k in reversed(range(len(self.layers))):
            w, b = self.layers[k]
            dw, db = inputs[k].T @ grad, grad.sum(0)
            if k:
                grad = (grad @ w.T) * (inputs[k] > 0)
            for p, m, d in ((w, self.moments[k][0], dw), (b, self.moments[k][1], db)):
                m *= 0.9
                m += d
                p -= lr * m
        return float((error ** 2).mean())


def run(batch=256):
    rng = np.random.default_rng(0)
    net = Network([LOOK_BACK, 192, 192, 1], rng)
    print("step,mse", flush=True)
    average = 0.0
    for step in range(1, 2_000_000):
        stations = rng.integers(0, STATIONS, batch)
        hours = rng.integers(LOOK_BACK, HOURS, batch)
        x = np.stack([weeks_before(int(s), int(h)) for s, h in zip(stations, hours)])
        average += net.train(x, np.log1p(DOCKS[stations, hours]), lr=2e-3)
        if step % 10 == 0:
            print(f"{step},{average / 10:.5f}", flush=True)
            average = 0.0


if __name__ == "__main__":
    run()
