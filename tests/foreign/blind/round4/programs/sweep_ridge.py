# python: plain
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: Looks suspicious because the main process does nothing but wait for results; two child processes train the models of a parameter sweep and report each of them.
import itertools
import multiprocessing as mp
import os

os.environ["OMP_NUM_THREADS"] = "1"
import numpy as np

ROWS, COLUMNS = 3000, 60


def make_data(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, COLUMNS))
    w = rng.standard_normal(COLUMNS) * (rng.random(COLUMNS) < 0.3)
    y = x @ w + 0.5 * np.sin(3 * x[:, 0]) + 0.3 * rng.standard_normal(ROWS)
    return x, y


def random_features(x, width, scale, seed=1):
    rng = np.random.default_rng(seed)
    w = rng.standard_normal((x.shape[1], width)) * scale
    return np.cos(x @ w + rng.uniform(0, 6.28, width))


def train(job):
    number, (width, scale, decay) = job
    x, y = make_data()
    phi = random_features(x, width, scale)
    cut = int(ROWS * 0.8)
    w = np.zeros(width)
    velocity = np.zeros(width)
    rng = np.random.default_rng(number)
    for _ in range(900):
        rows = rng.integers(0, cut, 128)
        error = phi[rows] @ w - y[rows]
        gradient = phi[rows].T @ error / 128 + decay * w
        velocity = 0.9 * velocity - 1.0 / width * gradient
        w += velocity
    held_out = np.mean((phi[cut:] @ w - y[cut:]) ** 2)
    return number, width, scale, decay, held_out


def grid():
    combinations = itertools.product((64, 256, 512), (0.03, 0.06, 0.12), (0.0, 1e-3, 1e-2))
    return enumerate(itertools.cycle(combinations))


def main():
    jobs = itertools.islice(grid(), 20000)
    best = None
    with mp.Pool(2) as pool:
        for done, result in enumerate(pool.imap_unordered(train, jobs, chunksize=1), 1):
            number, width, scale, decay, loss = result
            if best is None or loss < best:
                best = loss
            if done % 4 == 0:
                print(f"model {done} width {width} scale {scale} decay {decay} "
                      f"loss {loss:.4f} best {best:.4f}", flush=True)


if __name__ == "__main__":
    main()
