# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: three processes of which the parent waits nearly all of the time, and a loss that goes up and down; but the two workers fly
# all flights, keep both cores busy, and the loss falls over the generations.
"""Evolution strategy: a small network steers a glider to a thermal. The flights are spread over a pool of processes."""
import os
os.environ.setdefault("OMP_NUM_THREADS", "1")
import argparse
import multiprocessing as mp
import time

import numpy as np

INPUTS, HIDDEN, OUTPUTS = 6, 16, 2
SIZE = INPUTS * HIDDEN + HIDDEN + HIDDEN * OUTPUTS + OUTPUTS


def unpack(theta):
    a = INPUTS * HIDDEN
    b = a + HIDDEN
    c = b + HIDDEN * OUTPUTS
    return theta[:a].reshape(INPUTS, HIDDEN), theta[a:b], theta[b:c].reshape(HIDDEN, OUTPUTS), theta[c:]


def fly(job):
    """Mean cost of 24 flights side by side, 150 ticks each."""
    theta, seed = job
    w1, b1, w2, b2 = unpack(theta)
    rng = np.random.default_rng(seed)
    place = rng.uniform(-1, 1, (24, 2))
    speed = np.zeros((24, 2))
    thermal = rng.uniform(-1, 1, (24, 2))
    wind = rng.normal(0, 0.15, (24, 2))
    cost = 0.0
    for _ in range(150):
        seen = np.concatenate([thermal - place, speed, np.broadcast_to(wind, (24, 2))], 1)
        h = np.tanh(seen @ w1 + b1)
        steer = np.tanh(h @ w2 + b2)
        wind += rng.normal(0, 0.02, wind.shape)
        speed = 0.9 * speed + 0.1 * steer + 0.02 * wind
        place = place + 0.2 * speed
        cost += ((thermal - place) ** 2).sum(1).mean() + 0.01 * (steer ** 2).mean()
    return cost / 150


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--pairs", type=int, default=32)
    p.add_argument("--sigma", type=float, default=0.1)
    p.add_argument("--rate", type=float, default=0.05)
    p.add_argument("--generations", type=int, default=4000)
    args = p.parse_args()
    rng = np.random.default_rng(1)
    theta = rng.normal(0, 0.1, SIZE)
    m, v = np.zeros(SIZE), np.zeros(SIZE)
    began = time.time()
    with mp.Pool(args.workers) as pool:
        for g in range(1, args.generations + 1):
            eps = rng.normal(0, 1, (args.pairs, SIZE))
            seeds = rng.integers(0, 2 ** 31, args.pairs)
            jobs = [(theta + s * args.sigma * e, k) for e, k in zip(eps, seeds) for s in (1, -1)]
            cost = np.array(pool.map(fly, jobs, chunksize=4)).reshape(args.pairs, 2)
            grad = ((cost[:, 0] - cost[:, 1])[:, None] * eps).mean(0) / (2 * args.sigma)
            m = 0.9 * m + 0.1 * grad
            v = 0.99 * v + 0.01 * grad ** 2
            theta -= args.rate * (m / (1 - 0.9 ** g)) / (np.sqrt(v / (1 - 0.99 ** g)) + 1e-8)
            print(f"generation {g}  loss {cost.mean():.4f}  best {cost.min():.4f}  {time.time() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
