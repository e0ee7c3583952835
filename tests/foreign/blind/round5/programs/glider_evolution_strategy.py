# python: plain
# expected: worker-died [also accepted: waits-for-pipe]
# verdict: stuck
# seconds: 30
# where: .recv() / math.asin
# Why: math.asin fails (domain error) in one simulator, that process ends; the main process holds the other end of the pipe open itself and waits for an answer for ever.
import math
import multiprocessing as mp

import numpy as np

OBS, HIDDEN, PILOTS = 7, 24, 2
SIGMA, LR, POP = 0.08, 0.03, 24


class Glider:
    """A glider that looks for thermals; reward is height won."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.h, self.v, self.x, self.angle = 300.0, 18.0, 0.0, 0.0
        self.thermals = self.rng.uniform(0, 6000, 6)
        return self.observe()

    def observe(self):
        near = self.thermals - self.x
        k = np.argsort(np.abs(near))[:3]
        return np.array([self.h / 500, self.v / 20, self.x / 6000, self.angle, *(near[k] / 1000)])

    def step(self, pitch):
        self.v = max(7.0, self.v + 2.0 * pitch)
        self.x += self.v
        sink = 0.4 + 0.002 * self.v ** 2
        lift = sum(2.6 * math.exp(-((t - self.x) / 150.0) ** 2) for t in self.thermals)
        self.h += lift - sink
        self.angle = math.asin((lift - sink) / self.v)
        return self.observe(), self.h <= 0


def act(theta, obs):
    n = OBS * HIDDEN
    h = np.tanh(obs @ theta[:n].reshape(OBS, HIDDEN))
    return math.tanh(float(h @ theta[n:n + HIDDEN]))


def pilot(conn, seed):
    env = Glider(seed)
    while True:
        thetas = conn.recv()
        scores = []
        for theta in thetas:
            obs, start = env.reset(), env.h
            for _ in range(200):
                obs, done = env.step(act(theta, obs))
                if done:
                    break
            scores.append(env.h - start)
        conn.send(scores)


def main():
    conns = []
    for k in range(PILOTS):
        here, there = mp.Pipe()
        mp.Process(target=pilot, args=(there, 100 + k), daemon=True).start()
        conns.append((here, there))
    rng = np.random.default_rng(0)
    theta = 0.1 * rng.standard_normal(OBS * HIDDEN + HIDDEN)
    generation = 0
    while True:
        noise = rng.standard_normal((POP, theta.size))
        noise = np.concatenate([noise, -noise])
        parts = np.array_split(theta + SIGMA * noise, PILOTS)
        for (here, _), part in zip(conns, parts):
            here.send(part)
        scores = np.concatenate([here.recv() for here, _ in conns])
        ranks = scores.argsort().argsort() / (len(scores) - 1) - 0.5
        theta += LR / (len(scores) * SIGMA) * (ranks @ noise)
        generation += 1
        if generation % 5 == 0:
            print(f"generation {generation:5d}  mean {scores.mean():8.2f}  best {scores.max():8.2f}", flush=True)


if __name__ == "__main__":
    main()
