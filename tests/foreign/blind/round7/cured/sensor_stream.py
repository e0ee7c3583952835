# python: plain
# The twin without the fault.
import struct
import subprocess
import sys
import time

import numpy as np

FEATURES = 48
RECORD = struct.Struct("<%dff" % FEATURES)
BATCH = 64


def acquire():
    """Runs in the child: one record after the other on stdout."""
    rng = np.random.default_rng(99)
    mixing = rng.normal(size=(FEATURES, FEATURES)) / 7
    weight = rng.normal(size=FEATURES)
    out, serial = sys.stdout.buffer, 0
    while True:
        block = rng.normal(size=(256, FEATURES)) @ mixing
        wear = np.tanh(block @ weight) + rng.normal(0, 0.05, 256)
        for values, target in zip(block, wear):
            serial += 1
            if np.abs(values).max() > 3.1:
                sys.stderr.write("WARNING acquire: record %08d channel %02d above range (%.3f), clipped to 3.100 g\n"
                                 % (serial, int(np.abs(values).argmax()), float(np.abs(values).max())))
                sys.stderr.flush()
                values = np.clip(values, -3.1, 3.1)
            out.write(RECORD.pack(*values, target))
        out.flush()


class WearModel:
    def __init__(self, hidden=512, lr=0.01):
        rng = np.random.default_rng(0)
        self.a = rng.normal(0, (2 / FEATURES) ** 0.5, (FEATURES, hidden))
        self.b = rng.normal(0, (2 / hidden) ** 0.5, (hidden, hidden))
        self.c = rng.normal(0, (1 / hidden) ** 0.5, (hidden, 1))
        self.lr = lr

    def update(self, x, y):
        h1 = np.maximum(x @ self.a, 0)
        h2 = np.maximum(h1 @ self.b, 0)
        err = h2 @ self.c - y
        g = 2 * err / len(x)
        g2 = (g @ self.c.T) * (h2 > 0)
        g1 = (g2 @ self.b.T) * (h1 > 0)
        self.c -= self.lr * (h2.T @ g)
        self.b -= self.lr * (h1.T @ g2)
        self.a -= self.lr * (x.T @ g1)
        return float((err ** 2).mean())


def read_batch(stream):
    raw = stream.read(RECORD.size * BATCH)
    table = np.frombuffer(raw, "<f4").reshape(BATCH, FEATURES + 1).astype(np.float64)
    return table[:, :-1], table[:, -1:]


def train():
    child = subprocess.Popen([sys.executable, __file__, "acquire"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    model = WearModel()
    began, losses = time.time(), []
    step = 0
    while True:
        x, y = read_batch(child.stdout)
        losses.append(model.update(x, y))
        step += 1
        if step % 20 == 0:
            print(f"{time.time() - began:6.1f}s  step {step:5d}  mse {np.mean(losses[-20:]):.4f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["acquire"]:
        acquire()
    else:
        train()
