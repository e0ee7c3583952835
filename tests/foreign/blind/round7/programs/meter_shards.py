# python: plain
# expected: waits-for-file-lock
# verdict: stuck
# seconds: 25
# where: fcntl.flock
# how: attach
# Why: The reader process is forked while the cache lock is held; closing the file in the parent does not release the flock, because the
# child still has the same open file. When the parent locks the cache again after the first round it waits for ever.
"""Hourly load of 300 electricity meters: ridge-like model by gradient descent, features from a shared cache folder."""
import contextlib
import fcntl
import multiprocessing as mp
import os
import tempfile
import time

import numpy as np

CACHE = tempfile.mkdtemp(prefix="meters_")
SHARDS = 12


@contextlib.contextmanager
def cache_access():
    """Other jobs on this host use the same folder."""
    with open(os.path.join(CACHE, ".lock"), "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def build_shard(k, version):
    rng = np.random.default_rng(100 * version + k)
    x = rng.normal(size=(20000, 96)).astype(np.float32)
    w = np.sin(np.arange(96, dtype=np.float32))
    y = x @ w + 0.3 * rng.normal(size=20000).astype(np.float32)
    np.savez(os.path.join(CACHE, f"shard{k:02d}.npz"), x=x, y=y)


def reader(out):
    k = 0
    while True:
        with np.load(os.path.join(CACHE, f"shard{k % SHARDS:02d}.npz")) as z:
            out.put((k, z["x"], z["y"]))
        k += 1


def open_reader():
    with cache_access():
        for k in range(SHARDS):
            build_shard(k, 0)
        queue = mp.Queue(maxsize=2)
        proc = mp.Process(target=reader, args=(queue,), daemon=True)
        proc.start()
    return queue


def main():
    queue = open_reader()
    w1 = np.random.default_rng(0).normal(size=(96, 128)).astype(np.float32) / 10
    w2 = np.zeros(128, np.float32)
    step, version = 0, 0
    while True:
        for _ in range(SHARDS):
            k, x, y = queue.get()
            for lo in range(0, len(y), 2000):
                xb, yb = x[lo:lo + 2000], y[lo:lo + 2000]
                h = np.maximum(xb @ w1, 0)
                err = h @ w2 - yb
                g2 = h.T @ err / len(yb)
                g1 = xb.T @ (np.outer(err, w2) * (h > 0)) / len(yb)
                w1 -= 0.02 * g1
                w2 -= 0.02 * g2
                step += 1
            print(f"{time.strftime('%H:%M:%S')} shard {k} step {step} mse {float(err @ err) / len(err):.4f}", flush=True)
        version += 1
        with cache_access():
            build_shard(version % SHARDS, version)


if __name__ == "__main__":
    main()
