# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the main process only waits for its pool, the costs are noisy because every candidate meets other gusts, and the simulation is a
# Python loop over time; but both cores work all the time and the cost falls. Evolution strategies are like that.
"""Evolution strategies for a neural damper on a swaying footbridge, rollouts in a pool of two processes."""
import os

os.environ["OMP_NUM_THREADS"] = "1"      # the parallel work is in the pool

import multiprocessing as mp
import time

import numpy as np

MODES, HIDDEN, STEPS, DT = 4, 16, 120, 0.02
SHAPES = [(2 * MODES, HIDDEN), (HIDDEN,), (HIDDEN, MODES)]
SIZE = sum(int(np.prod(s)) for s in SHAPES)
OMEGA2 = np.array([4.0, 9.0, 20.0, 36.0])


def unpack(v):
    out, at = [], 0
    for s in SHAPES:
        n = int(np.prod(s))
        out.append(v[at:at + n].reshape(s))
        at += n
    return out


def rollout(job):
    """Mean energy plus effort of one candidate over a batch of gust histories."""
    vector, seed, gusts = job
    rng = np.random.default_rng(seed)
    w1, b1, w2 = unpack(vector)
    q = rng.standard_normal((gusts, MODES)) * 0.3
    v = np.zeros((gusts, MODES))
    wind = np.zeros((gusts, MODES))
    cost = 0.0
    for _ in range(STEPS):
        wind = 0.95 * wind + 0.4 * rng.standard_normal((gusts, MODES))
        force = 3.0 * np.tanh(np.tanh(np.hstack([q, v]) @ w1 + b1) @ w2)
        v = v + DT * (-OMEGA2 * q - 0.02 * v + wind + force)
        q = q + DT * v
        cost += (OMEGA2 * q * q + v * v).sum(1).mean() + 0.02 * (force ** 2).sum(1).mean()
    return cost / STEPS


def ranks(values):
    r = np.empty(len(values))
    r[np.argsort(values)] = np.linspace(-0.5, 0.5, len(values))
    return r


def main(pairs=32, sigma=0.08, lr=0.06):
    rng = np.random.default_rng(0)
    theta = 0.1 * rng.standard_normal(SIZE)
    m, v = np.zeros(SIZE), np.zeros(SIZE)
    best = np.inf
    began = time.time()
    with mp.Pool(2) as pool:
        for generation in range(1, 20001):
            noise = rng.standard_normal((pairs, SIZE))
            seeds = rng.integers(1 << 31, size=pairs)
            jobs = [(theta + s * sigma * e, int(k), 64) for e, k in zip(noise, seeds) for s in (1, -1)]
            costs = np.array(pool.map(rollout, jobs, chunksize=8))
            score = ranks(costs)
            grad = ((score[0::2] - score[1::2])[:, None] * noise).mean(0) / sigma
            m = 0.9 * m + 0.1 * grad
            v = 0.99 * v + 0.01 * grad ** 2
            theta -= lr * (m / (1 - 0.9 ** generation)) / (np.sqrt(v / (1 - 0.99 ** generation)) + 1e-8)
            print(f"generation {generation} cost {costs.mean():.4f} min {costs.min():.4f} max {costs.max():.4f} "
                  f"{time.time() - began:.1f} s", flush=True)
            if generation % 25 == 0:
                held = np.mean(pool.map(rollout, [(theta, 900 + k, 64) for k in range(4)]))
                best = min(best, held)
                print(f"generation {generation} held-out cost {held:.4f} best {best:.4f}", flush=True)


if __name__ == "__main__":
    main()
