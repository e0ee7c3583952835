"""Predicts how fast a crystal grows. A simulator process makes the samples, this process fits the network."""
import argparse
import subprocess
import sys
import time

import numpy as np

CELLS, BATCH = 24, 64


def simulate():
    """Writes batches as float32 to stdout and a journal to stderr."""
    rng = np.random.default_rng(5)
    number = 0
    while True:
        number += 1
        field = (rng.random((BATCH, CELLS, CELLS)) < 0.1).astype(np.float32)
        heat = rng.uniform(0.2, 0.9, (BATCH, 1, 1)).astype(np.float32)
        first = field.mean((1, 2))
        for _ in range(14):
            near = sum(np.roll(field, s, a) for s in (-1, 1) for a in (1, 2))
            field = np.maximum(field, (near * rng.random(field.shape, np.float32) > 1.0 + heat).astype(np.float32))
        last = field.mean((1, 2))
        print(f"batch {number:06d}: {BATCH} crystals, heat {heat.min():.3f} to {heat.max():.3f}, covered {first.mean():.4f} -> "
              f"{last.mean():.4f}, largest {last.max():.4f}, smallest {last.min():.4f}, spread {last.std():.4f}", file=sys.stderr, flush=True)
        x = np.concatenate([heat[:, 0], first[:, None], (heat[:, 0] * first[:, None]), heat[:, 0] ** 2], 1)
        sys.stdout.buffer.write(np.concatenate([x, last[:, None]], 1).astype(np.float32).tobytes())
        sys.stdout.buffer.flush()


class Samples:
    def __init__(self):
        self.sim = subprocess.Popen([sys.executable, __file__, "--simulate"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def __iter__(self):
        size = BATCH * 5 * 4
        while True:
            raw = self.sim.stdout.read(size)
            if len(raw) < size:
                return
            block = np.frombuffer(raw, np.float32).reshape(BATCH, 5)
            yield block[:, :4], block[:, 4:]


class Net:
    def __init__(self, width=256, rate=0.02):
        rng = np.random.default_rng(0)
        self.rate = rate
        self.w1, self.b1 = rng.normal(0, 0.7, (4, width)), np.zeros(width)
        self.w2, self.b2 = rng.normal(0, 1 / np.sqrt(width), (width, 1)), np.zeros(1)

    def step(self, x, y):
        h = np.tanh(x @ self.w1 + self.b1)
        err = h @ self.w2 + self.b2 - y
        g = 2 * err / len(x)
        gh = (g @ self.w2.T) * (1 - h * h)
        self.w2 -= self.rate * h.T @ g
        self.b2 -= self.rate * g.sum(0)
        self.w1 -= self.rate * x.T @ gh
        self.b1 -= self.rate * gh.sum(0)
        return float((err ** 2).mean())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--simulate", action="store_true")
    p.add_argument("--steps", type=int, default=20000)
    args = p.parse_args()
    if args.simulate:
        return simulate()
    net, began, mean = Net(), time.time(), None
    for n, (x, y) in enumerate(Samples(), 1):
        loss = net.step(x, y)
        mean = loss if mean is None else 0.95 * mean + 0.05 * loss
        if n % 20 == 0:
            print(f"step {n:6d}  loss {mean:.5f}  {n / (time.time() - began):.1f} steps/s", flush=True)
        if n >= args.steps:
            break


if __name__ == "__main__":
    main()
