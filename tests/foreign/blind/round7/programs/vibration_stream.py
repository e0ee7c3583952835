# python: plain
# expected: step-time-grows [also accepted: hot-line]
# verdict: slow
# seconds: 30
# where: if key in seen / seen.append
# Why: Windows already trained on are looked up in a list that grows with every step, so each step searches longer than the one before.
import hashlib
import time

import numpy as np


class SensorStream:
    """Gateways resend windows when the link was down, so about one in fifty comes twice."""

    def __init__(self, width=64, seed=0):
        self.rng = np.random.default_rng(seed)
        self.width = width
        self.t = np.arange(width, dtype=np.float32)
        self.recent = []

    def read(self, n):
        phase = self.rng.uniform(0, 6.28, (n, 1)).astype(np.float32)
        freq = self.rng.uniform(0.1, 0.6, (n, 1)).astype(np.float32)
        worn = self.rng.random(n) < 0.5
        x = np.sin(freq * self.t + phase)
        x += worn[:, None] * 0.5 * np.sin(2.4 * self.t)
        x += 0.2 * self.rng.standard_normal((n, self.width), dtype=np.float32)
        if self.recent:
            again = self.rng.random(n) < 0.02
            old_x, old_worn = self.recent
            x[again], worn[again] = old_x[again], old_worn[again]
        self.recent = (x.copy(), worn.copy())
        return x, worn.astype(np.float32)


class WearModel:
    def __init__(self, width, hidden=96, lr=0.2):
        rng = np.random.default_rng(1)
        self.w1 = rng.normal(0, width ** -0.5, (width, hidden)).astype(np.float32)
        self.b1 = np.zeros(hidden, np.float32)
        self.w2 = rng.normal(0, hidden ** -0.5, hidden).astype(np.float32)
        self.b2 = np.float32(0)
        self.lr = lr

    def update(self, x, y):
        h = np.tanh(x @ self.w1 + self.b1)
        p = 1 / (1 + np.exp(-(h @ self.w2 + self.b2)))
        d = (p - y) / len(y)
        dh = np.outer(d, self.w2) * (1 - h * h)
        self.w2 -= self.lr * (h.T @ d)
        self.b2 -= self.lr * d.sum()
        self.w1 -= self.lr * (x.T @ dh)
        self.b1 -= self.lr * dh.sum(0)
        return float(-np.mean(y * np.log(p + 1e-7) + (1 - y) * np.log(1 - p + 1e-7)))


def main():
    stream = SensorStream()
    model = WearModel(stream.width)
    seen = []
    skipped = 0
    t0 = time.perf_counter()
    step = 0
    while True:
        windows, worn = stream.read(256)
        fresh = []
        for i in range(len(windows)):
            key = hashlib.md5(windows[i].tobytes()).digest()
            if key in seen:
                skipped += 1
                continue
            seen.append(key)
            fresh.append(i)
        loss = model.update(windows[fresh], worn[fresh])
        step += 1
        if step % 20 == 0:
            now = time.perf_counter()
            print("step=%d loss=%.4f repeated=%d total=%.1fs" % (step, loss, skipped, now - t0), flush=True)


if __name__ == "__main__":
    main()
