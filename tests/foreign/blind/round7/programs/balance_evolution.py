# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: Evolution strategies: the main process only hands out seeds and waits, two children simulate; the reward swings from one generation to the next.
import os

os.environ["OMP_NUM_THREADS"] = "1"

import multiprocessing as mp
import time

import numpy as np

OBS, HID, POP, SIGMA, LR = 5, 24, 32, 0.08, 0.05
SIZE = OBS * HID + HID + HID


def unpack(theta):
    return theta[:OBS * HID].reshape(OBS, HID), theta[OBS * HID:OBS * HID + HID], theta[-HID:]


def rollout(theta, seed, poles=1024, horizon=100):
    """Mean time a cart keeps its pole up, over many starts at once."""
    w1, b1, w2 = unpack(theta)
    rng = np.random.default_rng(seed)
    x, v, a, w = rng.uniform(-0.15, 0.15, (4, poles))
    alive = np.ones(poles, bool)
    score = 0.0
    for _ in range(horizon):
        obs = np.stack([x, v, a, w, np.ones(poles)], 1)
        force = 10 * np.tanh(np.tanh(obs @ w1 + b1) @ w2)
        sin, cos = np.sin(a), np.cos(a)
        push = (force + 0.05 * w * w * sin) / 1.1
        acc = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos * cos / 1.1))
        x, v = x + 0.02 * v, v + 0.02 * (push - 0.05 * acc * cos / 1.1)
        a, w = a + 0.02 * w, w + 0.02 * acc
        alive &= (np.abs(a) < 0.21) & (np.abs(x) < 2.4)
        score += alive.mean()
    return score


def evaluate(job):
    theta, seed = job
    noise = np.random.default_rng(seed).normal(size=SIZE)
    return seed, rollout(theta + SIGMA * noise, seed) - rollout(theta - SIGMA * noise, seed)


def main():
    theta = np.random.default_rng(0).normal(size=SIZE) * 0.1
    seeds = np.random.SeedSequence(1)
    with mp.Pool(2) as pool:
        t0 = time.time()
        for generation in range(1_000_000):
            jobs = [(theta, int(s)) for s in seeds.generate_state(POP // 2) + generation]
            grad, gains = np.zeros(SIZE), []
            for seed, gain in pool.imap_unordered(evaluate, jobs):
                grad += gain * np.random.default_rng(seed).normal(size=SIZE)
                gains.append(gain)
            scale = np.std(gains) + 1e-6
            theta = theta + LR * grad / (len(jobs) * scale)
            print(f"generation {generation:4d}  reward {rollout(theta, generation, 256):7.2f}  spread {scale:6.2f}"
                  f"  {time.time() - t0:6.1f}s", flush=True)


if __name__ == "__main__":
    main()
