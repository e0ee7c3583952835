# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: the main process waits for its two workers nearly all the time, the workers compute in Python loops, and the cost of a generation
# jumps up and down. But the workers are the work, both cores are busy and the cost falls.
"""An inchworm of five segments learns to crawl: an evolution strategy whose trials are spread over two processes."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
import math
import multiprocessing
import time

import numpy as np

JOINTS, HIDDEN, TICKS, DT = 4, 10, 160, 0.04
SIZES = [(2 * JOINTS + 2, HIDDEN), (HIDDEN, JOINTS)]
WEIGHTS = sum((a + 1) * b for a, b in SIZES)
POPULATION, SIGMA, RATE = 24, 0.08, 0.012


def crawl(weights, terrain):
    """How far a worm gets with these weights: every joint bends towards what its controller asks for, low segments grip the ground."""
    cut = (SIZES[0][0] + 1) * HIDDEN
    first = weights[:cut].reshape(-1, HIDDEN)
    second = weights[cut:].reshape(-1, JOINTS)
    bend, speed = [0.0] * JOINTS, [0.0] * JOINTS
    x, effort = 0.0, 0.0
    before = list(range(JOINTS + 1))
    for tick in range(TICKS):
        clock = 2 * math.pi * tick * DT
        senses = np.array([*bend, *speed, math.sin(clock), math.cos(clock)])
        hidden = np.tanh(senses @ first[:-1] + first[-1])
        wanted = np.tanh(hidden @ second[:-1] + second[-1])
        for j in range(JOINTS):
            force = 9.0 * (float(wanted[j]) - bend[j]) - 2.0 * speed[j]
            speed[j] += DT * force
            bend[j] += DT * speed[j]
            effort += DT * force * force
        heading, along, up, places, heights = 0.0, 0.0, 0.0, [0.0], [0.0]
        for j in range(JOINTS):
            heading += bend[j]
            along += math.cos(heading)
            up += math.sin(heading)
            places.append(along)
            heights.append(up)
        low = min(heights)
        grip = [math.exp(-6.0 * (h - low)) for h in heights]
        slip = sum(g * (p - b) for g, p, b in zip(grip, places, before)) / sum(grip)
        if tick:
            x -= slip * (1.0 - 0.3 * terrain[int(abs(x) * 4) % len(terrain)])
        before = places
    return x - 0.002 * effort


def trial(task):
    weights, seed = task
    terrain = np.random.default_rng(seed).random(32)
    return sum(crawl(weights, np.roll(terrain, 7 * start)) for start in range(2)) / 2


def ranks(values):
    order = np.empty(len(values))
    order[np.argsort(values)] = np.arange(len(values))
    return order / (len(values) - 1) - 0.5


def main():
    rng = np.random.default_rng(17)
    mean = rng.normal(0, 0.3, WEIGHTS)
    momentum = np.zeros(WEIGHTS)
    began = time.time()
    with multiprocessing.Pool(2) as pool:
        for generation in range(1, 100001):
            noise = rng.normal(0, 1, (POPULATION // 2, WEIGHTS))
            noise = np.concatenate([noise, -noise])
            far = np.array(pool.map(trial, [(mean + SIGMA * n, generation) for n in noise], chunksize=3))
            gradient = ranks(far) @ noise / (POPULATION * SIGMA)
            momentum = 0.8 * momentum + 0.2 * gradient
            mean = mean + RATE * momentum - 0.0005 * mean
            print(f"generation {generation} cost {-far.mean():.4f} best trial {far.max():.3f} "
                  f"({generation * POPULATION / (time.time() - began):.0f} trials/s)", flush=True)


if __name__ == "__main__":
    main()
