# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 28
# Why: evolution strategies with two processes that roll out gaits in a Python loop over time while the parent only waits for them; the
# cost is noisy, but it falls, and both cores work.
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import multiprocessing as mp
import time

import numpy as np

JOINTS = 6
STATE = 2 * JOINTS + 2
HIDDEN = 32
SHAPES = [(STATE, HIDDEN), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN, JOINTS), (JOINTS,)]
SIZE = sum(int(np.prod(s)) for s in SHAPES)
TERRAINS = 64
HORIZON = 80


def unpack(flat):
    out, at = [], 0
    for s in SHAPES:
        n = int(np.prod(s))
        out.append(flat[at:at + n].reshape(s))
        at += n
    return out


def rollout(flat, seed):
    """Cost of one controller on a set of terrains: distance of the joints from the gait it should follow."""
    w1, b1, w2, b2, w3, b3 = unpack(flat)
    rng = np.random.default_rng(seed)
    slope = rng.normal(size=(TERRAINS, 1)) * 0.3
    angle = 0.3 * rng.normal(size=(TERRAINS, JOINTS))
    speed = np.zeros((TERRAINS, JOINTS))
    offsets = np.linspace(0, np.pi, JOINTS)
    cost = 0.0
    for t in range(HORIZON):
        clock = np.full((TERRAINS, 2), [np.sin(0.2 * t), np.cos(0.2 * t)])
        h = np.tanh(np.hstack([angle, speed, clock]) @ w1 + b1)
        h = np.tanh(h @ w2 + b2)
        torque = h @ w3 + b3
        speed = 0.8 * speed + 0.2 * (torque - 0.5 * np.sin(angle) + slope)
        angle = angle + 0.3 * speed
        target = 0.6 * np.sin(0.2 * t + offsets)
        cost += np.mean((angle - target) ** 2) + 1e-3 * np.mean(torque ** 2)
    return cost / HORIZON


def evaluate(job):
    theta, noise_seed, sigma, terrain = job
    eps = np.random.default_rng(noise_seed).normal(size=SIZE)
    return rollout(theta + sigma * eps, terrain) , rollout(theta - sigma * eps, terrain)


def ranks(v):
    r = np.empty(v.size)
    r[v.ravel().argsort()] = np.arange(v.size)
    return (r / (v.size - 1) - 0.5).reshape(v.shape)


def main(pairs=32, sigma=0.05, lr=0.03):
    rng = np.random.default_rng(0)
    theta = np.concatenate([(rng.normal(size=s) / np.sqrt(s[0]) if len(s) == 2 else np.zeros(s)).ravel() for s in SHAPES])
    m, v = np.zeros(SIZE), np.zeros(SIZE)
    began = time.time()
    with mp.Pool(2) as pool:
        for step in range(1, 5001):
            seeds = rng.integers(2 ** 31, size=pairs)
            terrain = int(rng.integers(2 ** 31))
            costs = np.array(pool.map(evaluate, [(theta, int(s), sigma, terrain) for s in seeds], chunksize=4))
            weight = ranks(costs)
            weight = weight[:, 0] - weight[:, 1]
            grad = sum(w * np.random.default_rng(int(s)).normal(size=SIZE) for w, s in zip(weight, seeds)) / (pairs * sigma)
            m = 0.9 * m + 0.1 * grad
            v = 0.99 * v + 0.01 * grad ** 2
            theta = theta - lr * (m / (1 - 0.9 ** step)) / (np.sqrt(v / (1 - 0.99 ** step)) + 1e-8)
            print(f"step {step} loss {costs.mean():.4f} best {costs.min():.4f} spread {costs.std():.4f} {time.time() - began:.1f}s", flush=True)


if __name__ == "__main__":
    main()
