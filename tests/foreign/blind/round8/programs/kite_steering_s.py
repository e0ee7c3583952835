# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: Evolution strategies: the main process does nothing but wait for a pool of two workers that simulate; the score is noisy.
import os

os.environ["OMP_NUM_THREADS"] = "1"   # each worker has its own core
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
from multiprocessing import Pool

import numpy as np

STATE, HIDDEN, ACTIONS = 6, 64, 2
SHAPES = [(STATE, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, ACTIONS)]
SIZE = sum(a * b for a, b in SHAPES)
SIGMA = 0.08


def unpack(theta):
    at, out = 0, []
    for a, b in SHAPES:
        out.append(theta[at:at + a * b].reshape(a, b))
        at += a * b
    return out


def fly(theta, seed, kites=256, steps=40):
    """Mean score of many kites in gusts."""
    rng = np.random.default_rng(seed)
    w1, w2, w3 = unpack(theta)
    position, speed = rng.normal(0, 1, (kites, 2)), np.zeros((kites, 2))
    score = 0.0
    for _ in range(steps):
        gust = rng.normal(0, 0.5, (kites, 2))
        state = np.concatenate([position, speed, gust], 1)
        action = np.tanh(np.tanh(np.tanh(state @ w1) @ w2) @ w3)
        speed = 0.95 * speed + 0.1 * action + 0.05 * gust - 0.02 * position
        position = position + 0.1 * speed
        score -= np.square(position).sum(1).mean() + 0.1 * np.square(action).sum(1).mean()
    return score / steps


def candidate(job):
    theta, seed = job
    noise = np.random.default_rng(seed).normal(size=SIZE)
    up = fly(theta + SIGMA * noise, seed)
    down = fly(theta - SIGMA * noise, seed)
    return seed, up, down


def main(population=12, lr=0.05):
    theta = np.random.default_rng(0).normal(0, 0.1, SIZE)
    began = time.time()
    with Pool(2) as pool:
        for generation in range(1, 100000):
            jobs = [(theta, generation * 1000 + k) for k in range(population)]
            gradient = np.zeros(SIZE)
            results = pool.map(candidate, jobs, chunksize=2)
            spread = np.std([up - down for _, up, down in results]) + 1e-8
            for seed, up, down in results:
                gradient += (up - down) / spread * np.random.default_rng(seed).normal(size=SIZE)
            theta = theta + lr * gradient / population
            best = max(max(up, down) for _, up, down in results)
            print(f"generation {generation} best {best:.4f} mean {np.mean([r[1] for r in results]):.4f} "
                  f"t={time.time() - began:.1f}", flush=True)


if __name__ == "__main__":
    main()
