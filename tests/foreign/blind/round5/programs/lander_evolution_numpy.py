# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: Evolution strategy on a small control task: returns swing from generation to generation, and there is no gradient at all. All the time is the policies' products.
import time

import numpy as np


class LanderBatch:
    """Many landers at once: height, speed, sideways position and speed, tilt and turn."""

    def __init__(self, n, rng):
        self.s = np.zeros((n, 6))
        self.s[:, 0] = rng.uniform(8, 12)
        self.s[:, 2] = rng.uniform(-3, 3)
        self.s[:, 4] = rng.normal(0, 0.1)

    def step(self, a, dt=0.08):
        s = self.s
        thrust, side = 1.0 / (1 + np.exp(-a[:, 0])) * 3.2, np.tanh(a[:, 1])
        s[:, 1] += (thrust * np.cos(s[:, 4]) - 1.6) * dt
        s[:, 3] += thrust * np.sin(s[:, 4]) * dt
        s[:, 5] += side * dt
        s[:, ::2] += s[:, 1::2] * dt
        return -(0.05 * np.abs(s[:, 0]) + 0.1 * np.abs(s[:, 2]) + 0.3 * np.abs(s[:, 4]) + 0.02 * thrust + 0.05 * s[:, 1] ** 2)


class Policies:
    shapes = [(6, 48), (48, 48), (48, 2)]

    @classmethod
    def size(cls):
        return sum(a * b for a, b in cls.shapes)

    def __init__(self, flat):
        self.layers, at = [], 0
        for a, b in self.shapes:
            self.layers.append(flat[:, at:at + a * b].reshape(len(flat), a, b) / np.sqrt(a))
            at += a * b

    def __call__(self, obs):
        h = obs[:, None, :]
        for w in self.layers[:-1]:
            h = np.tanh(h @ w)
        return (h @ self.layers[-1])[:, 0]


def ranks(f):
    r = np.empty(len(f))
    r[f.argsort()] = np.arange(len(f))
    return r / (len(f) - 1) - 0.5


def evolve(population=192, sigma=0.08, lr=0.12, horizon=80):
    rng = np.random.default_rng(30)
    centre = rng.normal(0, 1, Policies.size())
    velocity = np.zeros_like(centre)
    started = time.time()
    for generation in range(1, 100000):
        half = rng.normal(0, 1, (population // 2, centre.size))
        noise = np.concatenate([half, -half])
        policies = Policies(centre + sigma * noise)
        world = LanderBatch(population, rng)
        fitness = np.zeros(population)
        for _ in range(horizon):
            fitness += np.maximum(world.step(policies(world.s)), -20)
        velocity = 0.9 * velocity + ranks(fitness) @ noise / (population * sigma)
        centre = centre * 0.9995 + lr * sigma * velocity
        if generation % 4 == 0:
            print(f"gen {generation:5d} return mean {fitness.mean():9.2f} best {fitness.max():8.2f} worst {fitness.min():9.2f} "
                  f"{(time.time() - started) / generation:.2f} s/gen", flush=True)


if __name__ == "__main__":
    evolve()
