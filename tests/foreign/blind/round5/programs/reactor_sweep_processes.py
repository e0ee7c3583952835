# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# env: OMP_NUM_THREADS=1
# Why: a sweep over learning rates in two child processes, one thread each; the main process rightly does nothing but wait for them.
"""Learning-rate sweep for the reactor temperature surrogate. One process per setting, two at a time."""
import logging
import multiprocessing as mp
import sys

import numpy as np

SENSORS, WIDTH, OUT = 128, 320, 16


def handler():
    logging.basicConfig(stream=sys.stdout, level=logging.INFO,
                        format="%(asctime)s %(processName)s %(message)s")
    return logging.getLogger("sweep")


def plant(n, rng):
    x = rng.standard_normal((n, SENSORS)).astype(np.float32)
    mix = np.random.default_rng(77).standard_normal((SENSORS, OUT)).astype(np.float32)
    y = np.tanh(x @ mix / np.sqrt(SENSORS)) + 0.05 * rng.standard_normal((n, OUT)).astype(np.float32)
    return x, y


class Surrogate:
    def __init__(self, rng):
        dims = [SENSORS, WIDTH, WIDTH, OUT]
        self.w = [(rng.standard_normal((a, b)) * np.sqrt(2 / a)).astype(np.float32) for a, b in zip(dims, dims[1:])]
        self.m = [np.zeros_like(w) for w in self.w]

    def gradients(self, x, y):
        acts = [x]
        for w in self.w[:-1]:
            acts.append(np.maximum(acts[-1] @ w, 0))
        out = acts[-1] @ self.w[-1]
        delta = (out - y) / len(x)
        loss = 0.5 * float(((out - y) ** 2).sum(1).mean())
        grads = []
        for k in range(len(self.w) - 1, -1, -1):
            grads.insert(0, acts[k].T @ delta)
            if k:
                delta = (delta @ self.w[k].T) * (acts[k] > 0)
        return loss, grads

    def momentum_step(self, x, y, lr):
        loss, grads = self.gradients(x, y)
        for w, m, g in zip(self.w, self.m, grads):
            m *= 0.9
            m += g
            w -= lr * m
        return loss


def train_one(lr, seed, queue, steps=60_000):
    log = handler()
    rng = np.random.default_rng(seed)
    x, y = plant(20_000, rng)
    net = Surrogate(rng)
    for step in range(1, steps + 1):
        idx = rng.integers(0, len(x), 256)
        loss = net.momentum_step(x[idx], y[idx], lr)
        if step % 25 == 0:
            log.info("lr=%g step %d loss %.4f", lr, step, loss)
    queue.put((lr, loss))


def main():
    queue = mp.Queue()
    best = None
    rates = [3e-3, 1e-2, 3e-2, 1e-3]
    for pair in (rates[:2], rates[2:]):
        crew = [mp.Process(target=train_one, args=(lr, i, queue), name=f"lr{lr:g}") for i, lr in enumerate(pair)]
        for proc in crew:
            proc.start()
        for _ in crew:
            lr, loss = queue.get()
            best = min(best or (loss, lr), (loss, lr))
        for proc in crew:
            proc.join()
    print("best", best)


if __name__ == "__main__":
    main()
