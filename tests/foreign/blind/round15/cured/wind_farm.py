# python: plain
# expected: thread-oversubscription
# verdict: slow
# seconds: 20
# where: OMP_NUM_THREADS
# Why: the number of threads is that of the nodes of some cluster: each of the two workers multiplies its small matrices with 32
# threads on two cores, and they spend their time waking and waiting for one another.
"""How much power will a wind farm give? A population of small networks, trained by several workers."""
import os

os.environ["OMP_NUM_THREADS"] = "1"

import multiprocessing
import tempfile
import time

import numpy as np

COLUMNS, WIDTH, BATCH, PEOPLE = 24, 128, 64, 4
DATA = {}


def measure(path, rows=40_000):
    rng = np.random.default_rng(31)
    x = rng.normal(size=(rows, COLUMNS)).astype(np.float32)
    speed = 8 + 3 * x[:, 0] + x[:, 1] * x[:, 2]
    power = np.clip(speed / 12, 0, 1) ** 3 * (1 - 0.3 / (1 + np.exp(-3 * x[:, 3]))) + 0.05 * np.sin(3 * x[:, 4])
    np.savez(path, x=x, y=(power + rng.normal(0, 0.02, rows))[:, None].astype(np.float32))


def begin(path):
    with np.load(path) as file:
        DATA.update(x=file["x"], y=file["y"])


def train(task):
    """A hundred batches for one network; gives back the weights and the mean loss."""
    weights, speed, rate, seed = task
    rng = np.random.default_rng(seed)
    losses = []
    for _ in range(100):
        pick = rng.integers(0, len(DATA["x"]), BATCH)
        layers, y = [DATA["x"][pick]], DATA["y"][pick]
        for w, b in weights[:-1]:
            layers.append(np.maximum(0, layers[-1] @ w + b))
        w, b = weights[-1]
        error = layers[-1] @ w + b - y
        losses.append(float((error ** 2).mean()))
        delta = 2 * error / BATCH
        for i in reversed(range(len(weights))):
            w, b = weights[i]
            down = (delta @ w.T) * (layers[i] > 0) if i else None
            for p, s, g in ((w, speed[i][0], layers[i].T @ delta), (b, speed[i][1], delta.sum(0))):
                s *= 0.9
                s += g
                p -= rate * s
            delta = down
    return weights, speed, sum(losses) / len(losses)


def new_network(rng):
    sizes = [COLUMNS, WIDTH, WIDTH, WIDTH, 1]
    return [(rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32), np.zeros(b, np.float32)) for a, b in zip(sizes, sizes[1:])]


def main():
    path = os.path.join(tempfile.mkdtemp(prefix="wind-"), "farm.npz")
    measure(path)
    rng = np.random.default_rng(1)
    people = []
    for _ in range(PEOPLE):
        weights = new_network(rng)
        people.append([weights, [(np.zeros_like(w), np.zeros_like(b)) for w, b in weights], float(rng.uniform(0.002, 0.01))])
    workers = os.cpu_count()
    print(f"{PEOPLE} networks, {workers} workers", flush=True)
    with multiprocessing.get_context("fork").Pool(workers, begin, (path,)) as pool:
        began = time.time()
        for turn in range(1, 20_001):
            tasks = [(*one, int(rng.integers(2 ** 31))) for one in people]
            results = pool.map(train, tasks, chunksize=1)
            losses = [loss for _, _, loss in results]
            for one, (weights, speed, _) in zip(people, results):
                one[0], one[1] = weights, speed
            if turn % 20 == 0:
                best, worst = int(np.argmin(losses)), int(np.argmax(losses))
                people[worst] = [[(w.copy(), b.copy()) for w, b in people[best][0]], people[worst][1],
                                 float(np.clip(people[best][2] * rng.choice([0.8, 1.25]), 1e-4, 0.02))]
            print(f"round {turn} batches {turn * PEOPLE * 100} loss {min(losses):.5f} {time.time() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
