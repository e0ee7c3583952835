# python: plain
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: boosting with a pool of two processes that look for splits while the parent sits in pool.map: the main process looks idle and one line comes every few seconds, but the workers compute all along.
import multiprocessing as mp
import time

import numpy as np

N, FEATURES, BINS = 60000, 48, 64
DATA = {}


def make_catchments():
    rng = np.random.default_rng(37)
    x = rng.normal(size=(N, FEATURES)).astype("float32")
    y = np.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] * 0.5 + (x[:, 5] > 0.3) + rng.normal(0, 0.3, N)
    edges = np.quantile(x, np.linspace(0, 1, BINS + 1)[1:-1], axis=0)
    codes = np.stack([np.searchsorted(edges[:, f], x[:, f]) for f in range(FEATURES)], axis=1)
    return codes.astype("int64"), y


def best_split(task):
    """Gain of the best cut for one feature, in every leaf of the tree."""
    feature, residual, leaf, leaves = task
    slot = leaf * BINS + DATA["codes"][:, feature]
    count = np.bincount(slot, minlength=leaves * BINS).reshape(leaves, BINS).cumsum(axis=1)
    total = np.bincount(slot, residual, minlength=leaves * BINS).reshape(leaves, BINS).cumsum(axis=1)
    n, s = count[:, -1:], total[:, -1:]
    gain = total ** 2 / (count + 1.0) + (s - total) ** 2 / (n - count + 1.0) - s ** 2 / (n + 1.0)
    cut = gain.argmax(axis=1)
    return feature, cut, gain[np.arange(leaves), cut]


def grow(pool, residual, depth=4):
    leaf = np.zeros(N, "int64")
    for level in range(depth):
        leaves = 2 ** level
        found = pool.map(best_split, [(f, residual, leaf, leaves) for f in range(FEATURES)], chunksize=6)
        gains = np.stack([g for _, _, g in found])
        winner = gains.argmax(axis=0)
        cuts = np.array([found[winner[k]][1][k] for k in range(leaves)])
        right = DATA["codes"][np.arange(N), winner[leaf]] > cuts[leaf]
        leaf = leaf * 2 + right
    size = np.bincount(leaf, minlength=2 ** depth)
    return (np.bincount(leaf, residual, minlength=2 ** depth) / (size + 1.0))[leaf]


def main():
    DATA["codes"], target = make_catchments()
    prediction, started = np.zeros(N), time.time()
    with mp.get_context("fork").Pool(2) as pool:
        for number in range(1, 501):
            prediction += 0.1 * grow(pool, target - prediction)
            if number % 2 == 0:
                print(f"tree {number}  loss {np.mean((target - prediction) ** 2):.4f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
