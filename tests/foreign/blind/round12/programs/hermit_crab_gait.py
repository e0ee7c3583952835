# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the main process only waits for its pool and the costs jump about, but the pool keeps both cores at work with simulations and
# the mean cost falls: an evolution strategy as it should be.
"""A gait for a hermit crab, found with an evolution strategy whose trials run in a pool of two processes."""
import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import multiprocessing as mp
import time

import numpy as np

LEGS, HIDDEN = 6, 24
INPUTS, OUTPUTS = 2 * LEGS + 4, LEGS
SIZE = INPUTS * HIDDEN + HIDDEN + HIDDEN * OUTPUTS


def unpack(theta):
    a = INPUTS * HIDDEN
    return theta[:a].reshape(INPUTS, HIDDEN), theta[a:a + HIDDEN], theta[a + HIDDEN:].reshape(HIDDEN, OUTPUTS)


def walk(job):
    """The cost of one walk on rough sand."""
    theta, seed = job
    rng = np.random.default_rng(seed)
    w1, b1, w2 = unpack(theta)
    angle, speed = rng.normal(0, 0.1, LEGS), np.zeros(LEGS)
    place = heading = effort = 0.0
    side = np.tile([1.0, -1.0], LEGS // 2)
    for t in range(250):
        clock = 2 * np.pi * t / 25
        sense = np.concatenate([angle, speed, [np.sin(clock), np.cos(clock), heading, 1.0]])
        push = np.tanh(np.tanh(sense @ w1 + b1) @ w2)
        speed = 0.8 * speed + 0.3 * push - 0.15 * angle
        angle = np.clip(angle + 0.2 * speed, -1, 1)
        grip = 1 / (1 + np.exp(-4 * np.sin(clock + np.pi * (side > 0)) * side))
        thrust = -speed * grip * rng.uniform(0.7, 1.0, LEGS)
        place += 0.05 * thrust.mean() * np.cos(heading)
        heading += 0.02 * (thrust * side).mean() + rng.normal(0, 0.005)
        effort += 0.0004 * (push ** 2).mean()
    return 1.0 - place + effort + abs(heading)


def ranks(cost):
    order = np.empty(len(cost))
    order[np.argsort(cost)] = np.arange(len(cost))
    return order / (len(cost) - 1) - 0.5


def main():
    rng = np.random.default_rng(13)
    theta = rng.normal(0, 0.1, SIZE)
    momentum = np.zeros(SIZE)
    sigma, lr, pairs = 0.1, 0.3, 24
    start = time.time()
    with mp.Pool(2) as pool:
        for step in range(1, 5001):
            noise = rng.normal(0, 1, (pairs, SIZE))
            seeds = rng.integers(0, 2 ** 31, pairs)
            jobs = [(theta + sigma * n, s) for n, s in zip(noise, seeds)]
            jobs += [(theta - sigma * n, s) for n, s in zip(noise, seeds)]
            cost = np.array(pool.map(walk, jobs, chunksize=6))
            r = ranks(cost)
            gradient = (r[:pairs] - r[pairs:]) @ noise / (pairs * sigma)
            momentum = 0.8 * momentum + 0.2 * gradient
            theta = theta * 0.999 - lr * sigma * momentum
            print(f"step {step:4d}  loss {cost.mean():.4f}  best {cost.min():.4f}  spread {cost.std():.3f}  "
                  f"{step * len(jobs) / (time.time() - start):.1f} walks/s", flush=True)


if __name__ == "__main__":
    main()
