# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the main process only waits for its two helpers and adds a few arrays per round; the helpers have equal shares
# and calculate nearly all the time, with one BLAS thread each on two cores.
"""Which of forty delivery zones does a parcel go to?  A NumPy network over two helper processes."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import multiprocessing as mp  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402

ZONES = 40
INPUTS = 24
HIDDEN = 320
HELPERS = 2
ROWS = 30_000
PER_HELPER = 2048


def addresses(count, seed):
    laws = np.random.default_rng(99)
    centres = laws.normal(0, 1.0, (ZONES, 3, INPUTS))
    rng = np.random.default_rng(seed)
    zone = rng.integers(0, ZONES, count)
    x = centres[zone, rng.integers(0, 3, count)] + rng.normal(0, 0.9, (count, INPUTS))
    wrong = rng.random(count) < 0.05
    zone[wrong] = rng.integers(0, ZONES, wrong.sum())
    return np.hstack([x, np.ones((count, 1))]).astype(np.float32), zone


def first_weights():
    rng = np.random.default_rng(5)
    shapes = [(INPUTS + 1, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, ZONES)]
    return [rng.normal(0, 1 / np.sqrt(a), (a, b)).astype(np.float32) for a, b in shapes]


def forward(weights, x):
    h1 = np.tanh(x @ weights[0])
    h2 = np.tanh(h1 @ weights[1])
    return h1, h2, softmax(h2 @ weights[2])


def softmax(z):
    z = np.exp(z - z.max(1, keepdims=True))
    return z / z.sum(1, keepdims=True)


def helper(number, pipe):
    x, zone = addresses(ROWS, seed=number)
    rng = np.random.default_rng(1000 + number)
    picked = np.arange(PER_HELPER)
    while True:
        weights = pipe.recv()
        if weights is None:
            return
        rows = rng.integers(0, ROWS, PER_HELPER)
        inputs, y = x[rows], zone[rows]
        h1, h2, p = forward(weights, inputs)
        loss = -np.log(p[picked, y] + 1e-9).mean()
        p[picked, y] -= 1
        p /= PER_HELPER
        d2 = p @ weights[2].T * (1 - h2 * h2)
        d1 = d2 @ weights[1].T * (1 - h1 * h1)
        pipe.send(([inputs.T @ d1, h1.T @ d2, h2.T @ p], float(loss)))


def main():
    pipes, helpers = [], []
    for number in range(HELPERS):
        here, there = mp.Pipe()
        process = mp.Process(target=helper, args=(number, there), daemon=True)
        process.start()
        pipes.append(here)
        helpers.append(process)
    test_x, test_zone = addresses(1500, seed=500)
    weights = first_weights()
    speed = [np.zeros_like(w) for w in weights]
    began = time.time()
    for number in range(1, 8001):
        for pipe in pipes:
            pipe.send(weights)
        answers = [pipe.recv() for pipe in pipes]
        for layer in range(len(weights)):
            gradient = sum(answer[0][layer] for answer in answers) / HELPERS
            speed[layer] = 0.9 * speed[layer] - 0.05 * gradient
            weights[layer] += speed[layer]
        if number % 10 == 0:
            loss = sum(answer[1] for answer in answers) / HELPERS
            print(f"round {number:5d} loss {loss:.4f} {time.time() - began:.1f} s", flush=True)
        if number % 200 == 0:
            right = (forward(weights, test_x)[2].argmax(1) == test_zone).mean()
            print(f"      test accuracy {right:.3f}", flush=True)
    for pipe, process in zip(pipes, helpers):
        pipe.send(None)
        process.join()


if __name__ == "__main__":
    main()
