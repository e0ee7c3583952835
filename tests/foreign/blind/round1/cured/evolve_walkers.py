# python: plain
# expected: worker-died [also accepted: waits-for-pipe]
# verdict: stuck
# seconds: 40
# where: pool.map / setrlimit
# Why: each worker gets a CPU limit meant for one evaluation but it holds for the whole life of the process; the kernel kills the workers, their tasks are lost, and pool.map waits for answers that never come.
import multiprocessing as mp
import resource
import time

import numpy as np

JOINTS, HIDDEN, TIMESTEPS = 4, 12, 400
POPULATION, ELITE = 24, 6
SIZE = JOINTS * 2 * HIDDEN + HIDDEN * JOINTS


def be_modest(cpu_seconds):
    """A walker that falls into an endless tumble must not hold up the others."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))


def walk(genome):
    first = genome[:JOINTS * 2 * HIDDEN].reshape(JOINTS * 2, HIDDEN)
    second = genome[JOINTS * 2 * HIDDEN:].reshape(HIDDEN, JOINTS)
    angle, speed, way = np.zeros(JOINTS), np.zeros(JOINTS), 0.0
    for t in range(TIMESTEPS):
        senses = np.concatenate([np.sin(angle + t / 10), speed])
        torque = np.tanh(np.tanh(senses @ first) @ second)
        speed = 0.9 * speed + 0.1 * torque - 0.02 * np.sin(angle)
        angle = angle + 0.1 * speed
        way += float(np.cos(angle[0]) * speed[1] - 0.05 * np.abs(torque).sum())
    return way


def main():
    rng = np.random.default_rng(19)
    mean, spread = np.zeros(SIZE), np.full(SIZE, 0.5)
    started = time.time()
    with mp.Pool(2) as pool:
        for generation in range(1, 2001):
            genomes = mean + spread * rng.normal(size=(POPULATION, SIZE))
            ways = np.array(pool.map(walk, list(genomes), chunksize=4))
            elite = genomes[np.argsort(ways)[-ELITE:]]
            mean = 0.7 * mean + 0.3 * elite.mean(axis=0)
            spread = np.maximum(0.7 * spread + 0.3 * elite.std(axis=0), 0.02)
            print(f"generation {generation}  best {ways.max():.2f}  mean {ways.mean():.2f}  "
                  f"{time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
