# python: plain
# expected: worker-died [also accepted: rank-lost]
# verdict: stuck
# seconds: 40
# where: pool.map( / RLIMIT_CPU
# Why: the pool's workers have a limit of CPU seconds, meant for one runaway simulation but counted over the worker's life; the kernel kills them, the
# pool starts new ones, and pool.map waits for ever for the answer that was lost.
import os
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import multiprocessing as mp
import resource
import numpy as np

OBS, ACT, HORIZON, STARTS = 6, 2, 250, 48
CPU_SECONDS = 7


def guard():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def rollout(task):
    weights, seed = task
    w = weights.reshape(OBS, ACT)
    rng = np.random.default_rng(seed)
    pos = rng.uniform(-1, 1, (STARTS, 2))
    vel = np.zeros((STARTS, 2))
    goal = rng.uniform(-1, 1, (STARTS, 2))
    reward = np.zeros(STARTS)
    for _ in range(HORIZON):
        obs = np.concatenate([pos, vel, goal], axis=1)
        force = np.tanh(obs @ w)
        vel = 0.95 * vel + 0.05 * force - 0.01 * np.sin(3 * pos)
        pos = np.clip(pos + 0.1 * vel, -2, 2)
        reward -= np.hypot(pos[:, 0] - goal[:, 0], pos[:, 1] - goal[:, 1])
    return reward.mean()


def main():
    rng = np.random.default_rng(0)
    mean = np.zeros(OBS * ACT)
    sigma = np.ones(OBS * ACT)
    population, elite = 64, 12
    with mp.Pool(2) as pool:
        for generation in range(1, 2001):
            candidates = mean + sigma * rng.standard_normal((population, mean.size))
            scores = np.array(pool.map(rollout, [(c, generation) for c in candidates]))
            best = candidates[np.argsort(scores)[-elite:]]
            mean = 0.3 * mean + 0.7 * best.mean(axis=0)
            sigma = np.maximum(best.std(axis=0), 0.05)
            print(f"generation {generation} best {scores.max():.3f} mean {scores.mean():.3f}", flush=True)


if __name__ == "__main__":
    main()
