import os
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np

STOPS = 40
BATCH = 256
RECORD = (STOPS + 1) * BATCH * 8


def simulate():
    """Child: writes batches of (occupancy per stop, delay at the terminus) to stdout."""
    rng = np.random.default_rng(23)
    influence = np.random.default_rng(5).normal(size=STOPS) / np.sqrt(STOPS)
    number = 0
    while True:
        load = rng.gamma(2.0, 1.0, size=(BATCH, STOPS))
        for _ in range(16):
            load = 0.95 * load + 0.05 * np.roll(load, 1, axis=1) + 0.002 * rng.normal(size=load.shape)
        negative = load < 0
        if negative.any():
            load[negative] = 0
        delay = np.tanh(load @ influence) + 0.05 * rng.normal(size=BATCH)
        heavy = np.argsort(load.max(axis=1))[-6:]
        for row in heavy:
            print(f"run {number}: tram {row} over capacity at stop {load[row].argmax()} ({load[row].max():.2f})", file=sys.stderr)
        sys.stdout.buffer.write(np.column_stack([load, delay]).tobytes())
        sys.stdout.buffer.flush()
        number += 1


class DelayModel:
    def __init__(self, hidden=160, seed=1):
        rng = np.random.default_rng(seed)
        self.p = [rng.normal(size=(STOPS, hidden)) / np.sqrt(STOPS), np.zeros(hidden),
                  rng.normal(size=(hidden, hidden)) / np.sqrt(hidden), np.zeros(hidden),
                  rng.normal(size=(hidden, 1)) / np.sqrt(hidden), np.zeros(1)]
        self.m = [np.zeros_like(a) for a in self.p]
        self.v = [np.zeros_like(a) for a in self.p]
        self.t = 0

    def step(self, x, y, lr=2e-3):
        w1, b1, w2, b2, w3, b3 = self.p
        h1 = np.tanh(x @ w1 + b1)
        h2 = np.tanh(h1 @ w2 + b2)
        err = (h2 @ w3 + b3)[:, 0] - y
        d3 = (2 * err / len(y))[:, None]
        d2 = (d3 @ w3.T) * (1 - h2 ** 2)
        d1 = (d2 @ w2.T) * (1 - h1 ** 2)
        grads = [x.T @ d1, d1.sum(0), h1.T @ d2, d2.sum(0), h2.T @ d3, d3.sum(0)]
        self.t += 1
        for i, g in enumerate(grads):
            self.m[i] = 0.9 * self.m[i] + 0.1 * g
            self.v[i] = 0.999 * self.v[i] + 0.001 * g * g
            mhat = self.m[i] / (1 - 0.9 ** self.t)
            vhat = self.v[i] / (1 - 0.999 ** self.t)
            self.p[i] = self.p[i] - lr * mhat / (np.sqrt(vhat) + 1e-8)
        return float(np.mean(err ** 2))


def main():
    remarks = tempfile.TemporaryFile()
    simulator = subprocess.Popen([sys.executable, __file__, "--simulate"], stdout=subprocess.PIPE, stderr=remarks)
    model = DelayModel()
    smooth, began = None, time.time()
    for step in range(1, 30001):
        raw = simulator.stdout.read(RECORD)
        if len(raw) < RECORD:
            raise SystemExit("simulator ended early")
        table = np.frombuffer(raw).reshape(BATCH, STOPS + 1)
        loss = model.step(table[:, :-1] - 2.0, table[:, -1])
        smooth = loss if smooth is None else 0.95 * smooth + 0.05 * loss
        if step % 10 == 0:
            print(f"step {step} loss {smooth:.4f} {step / (time.time() - began):.1f} steps/s", flush=True)
    simulator.kill()


if __name__ == "__main__":
    simulate() if "--simulate" in sys.argv else main()
