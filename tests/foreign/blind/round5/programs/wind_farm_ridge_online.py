# python: plain
# expected: waits-for-file-lock
# verdict: stuck
# seconds: 30
# how: attach
# where: fcntl.flock / with exclusive(
# Why: the child process is forked while the lock file is open and keeps the flock for ever; the next save waits for it.
"""Wind farm output forecast. Fits a two layer net online, keeps the last weights on disk for the dashboard."""
import contextlib
import fcntl
import multiprocessing
import os
import tempfile
import time

import numpy as np

TURBINES, LAGS, HIDDEN = 40, 24, 256


@contextlib.contextmanager
def exclusive(path):
    with open(path + ".lock", "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield path


def dashboard_feed(path):
    """Watches the saved weights and writes a one-line summary next to them."""
    seen = 0.0
    while True:
        stamp = os.path.getmtime(path)
        if stamp != seen:
            seen = stamp
            with open(path + ".summary", "w") as out:
                out.write(f"updated {time.strftime('%H:%M:%S', time.localtime(stamp))}\n")
        time.sleep(2.0)


def weather(hours, rng):
    base = np.cumsum(rng.standard_normal((hours, TURBINES)), 0)
    base -= np.linspace(0, 1, hours)[:, None] * base[-1]
    speed = 8 + 2 * np.tanh(base / 20) + 0.5 * rng.standard_normal((hours, TURBINES))
    return (np.clip(speed, 0, 14) / 14).astype(np.float32) ** 3


class Forecaster:
    def __init__(self, rng):
        n = TURBINES * LAGS
        self.w1 = (rng.standard_normal((n, HIDDEN)) / np.sqrt(n)).astype(np.float32)
        self.w2 = (rng.standard_normal((HIDDEN, TURBINES)) / np.sqrt(HIDDEN)).astype(np.float32)

    def step(self, x, y, lr=0.02):
        h = np.tanh(x @ self.w1)
        err = h @ self.w2 - y
        g2 = h.T @ err / len(x)
        g1 = x.T @ ((err @ self.w2.T) * (1 - h * h)) / len(x)
        self.w2 -= lr * g2
        self.w1 -= lr * g1
        return float((err ** 2).mean())

    def save(self, path):
        np.savez(path, w1=self.w1, w2=self.w2)


def main():
    rng = np.random.default_rng(1)
    power = weather(20_000, rng)
    net = Forecaster(rng)
    weights = os.path.join(tempfile.mkdtemp(prefix="windfarm-"), "weights.npz")
    with exclusive(weights):
        net.save(weights)
        feed = multiprocessing.Process(target=dashboard_feed, args=(weights,), daemon=True)
        feed.start()
    window = np.arange(LAGS)
    for step in range(1, 10_000_000):
        t = rng.integers(LAGS, len(power), 256)
        x = power[(t[:, None] - 1 - window)].reshape(len(t), -1)
        mse = net.step(x, power[t])
        if step % 10 == 0:
            print(f"step {step:6d} mse {mse:.5f}", flush=True)
        if step % 100 == 0:
            with exclusive(weights):
                net.save(weights)


if __name__ == "__main__":
    main()
