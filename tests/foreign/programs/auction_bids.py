# python: plain
# expected: worker-deadlock
# verdict: stuck
# seconds: 30
# where: outbox.put / pool.map
# Why: the pool's workers put every chunk into a queue of eight and then wait for room; the parent would take from it,
# but first waits in pool.map for the workers to be done. Each waits for the other; no CPU time passes.
import multiprocessing as mp
import os
import time

import numpy as np

FEATURES = 32
outbox = None


def attach_outbox(queue):
    global outbox
    outbox = queue


def featurise(day):
    rng = np.random.default_rng(day)
    bids = rng.lognormal(size=(4000, FEATURES))
    bids = np.sort(bids, axis=0)
    x = (bids - bids.mean(0)) / bids.std(0)
    y = x @ np.linspace(-1, 1, FEATURES) + rng.normal(size=len(x))
    outbox.put((day, x.astype(np.float32), y.astype(np.float32)))
    return day


class RidgeSGD:
    def __init__(self, width, rate=1e-3, decay=1e-4):
        self.w = np.zeros(width, np.float32)
        self.rate, self.decay = rate, decay

    def partial_fit(self, x, y):
        error = x @ self.w - y
        self.w -= self.rate * (x.T @ error / len(x) + self.decay * self.w)
        return float((error ** 2).mean())


def month(first_day, days, processes):
    queue = mp.Queue(maxsize=8)
    with mp.Pool(processes, initializer=attach_outbox, initargs=(queue,)) as pool:
        done = pool.map(featurise, range(first_day, first_day + days), chunksize=1)
        for _ in done:
            yield queue.get()


def main():
    model = RidgeSGD(FEATURES)
    print("pid", os.getpid(), "using", mp.cpu_count(), "cores", flush=True)
    began = time.time()
    for first, days in ((0, 6), (6, 7), (13, 8), (21, 30), (51, 30)):
        for day, x, y in month(first, days, processes=2):
            for _ in range(2000):
                mse = model.partial_fit(x, y)
            print(f"day {day:3d} mse {mse:.4f} ({time.time() - began:.1f} s)", flush=True)


if __name__ == "__main__":
    mp.set_start_method("fork")
    main()
