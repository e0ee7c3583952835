# python: plain
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: the main process sleeps nearly always, waiting for its pool; the work is done by two workers with one thread each, which is right here.
import os
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import multiprocessing as mp
import numpy as np

HIDDEN, STEPS, STARTS = 16, 300, 4000
SIZE = 3 * HIDDEN + HIDDEN


def evaluate(job):
    seed, theta, sigma = job
    eps = np.random.default_rng(seed).standard_normal(SIZE)
    gains = []
    for sign in (1, -1):
        p = theta + sign * sigma * eps
        w1, w2 = p[:3 * HIDDEN].reshape(3, HIDDEN), p[3 * HIDDEN:]
        rng = np.random.default_rng(seed // 1000)
        angle = rng.uniform(-np.pi, np.pi, STARTS)
        speed = rng.uniform(-1, 1, STARTS)
        cost = 0.0
        for t in range(STEPS // 10):
            c, s = np.cos(angle), np.sin(angle)
            torque = np.zeros(STARTS)
            for k in range(HIDDEN):
                torque += w2[k] * np.tanh(w1[0, k] * c + w1[1, k] * s + w1[2, k] * speed / 4)
            torque = 2 * np.tanh(torque)
            for _ in range(10):
                speed = np.clip(speed + 0.01 * (15 * np.sin(angle) + 3 * torque), -8, 8)
                angle = angle + 0.01 * speed
            wrapped = (angle + np.pi) % (2 * np.pi) - np.pi
            cost += np.mean(wrapped ** 2 + 0.1 * speed ** 2)
        gains.append(-cost)
    return seed, gains[0], gains[1]


def main():
    rng = np.random.default_rng(0)
    theta = 0.3 * rng.standard_normal(SIZE)
    sigma, lr, pairs = 0.15, 0.08, 24
    with mp.Pool(2) as pool:
        for it in range(1, 3001):
            seeds = [it * 1000 + i for i in range(pairs)]
            results = pool.map(evaluate, [(s, theta, sigma) for s in seeds], chunksize=2)
            raw = np.array([(a, b) for _, a, b in results])
            ranks = raw.ravel().argsort().argsort().reshape(raw.shape) / (2 * pairs - 1) - 0.5
            noise = np.stack([np.random.default_rng(s).standard_normal(SIZE) for s in seeds])
            theta = theta + lr * ((ranks[:, 0] - ranks[:, 1])[:, None] * noise).mean(axis=0) / sigma
            print(f"iteration {it} reward {raw.mean():.3f} best {raw.max():.3f}", flush=True)


if __name__ == "__main__":
    main()
