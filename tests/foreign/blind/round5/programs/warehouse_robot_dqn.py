# python: plain
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: the memory grows while the replay buffer (allocated once) fills, up to its fixed size, and the TD loss jumps at each target update; the net is the work.
"""DQN for a picking robot, numpy only. 64 robots run side by side on their own floors."""
import time

import numpy as np

ROBOTS, FLOOR, ACTIONS = 64, 16, 5
OBS = 2 * FLOOR * FLOOR
MOVES = np.array([[0, 1], [0, -1], [1, 0], [-1, 0], [0, 0]])


class Floors:
    def __init__(self, rng):
        self.rng = rng
        self.pos = rng.integers(0, FLOOR, (ROBOTS, 2))
        self.goal = rng.integers(0, FLOOR, (ROBOTS, 2))

    def observe(self):
        grid = np.zeros((ROBOTS, 2, FLOOR, FLOOR), np.float32)
        r = np.arange(ROBOTS)
        grid[r, 0, self.pos[:, 0], self.pos[:, 1]] = 1
        grid[r, 1, self.goal[:, 0], self.goal[:, 1]] = 1
        return grid.reshape(ROBOTS, OBS)

    def step(self, action):
        self.pos = np.clip(self.pos + MOVES[action], 0, FLOOR - 1)
        done = (self.pos == self.goal).all(1)
        reward = np.where(done, 1.0, -0.01).astype(np.float32)
        self.goal[done] = self.rng.integers(0, FLOOR, (done.sum(), 2))
        return self.observe(), reward, done


class Replay:
    def __init__(self, capacity=150_000):
        self.capacity, self.n, self.at = capacity, 0, 0
        self.obs = np.empty((capacity, OBS), np.float32)
        self.nxt = np.empty((capacity, OBS), np.float32)
        self.act = np.empty(capacity, np.int64)
        self.rew = np.empty(capacity, np.float32)
        self.end = np.empty(capacity, np.float32)

    def add(self, obs, act, rew, nxt, end):
        i = (self.at + np.arange(len(act))) % self.capacity
        self.obs[i], self.act[i], self.rew[i], self.nxt[i], self.end[i] = obs, act, rew, nxt, end
        self.at = (self.at + len(act)) % self.capacity
        self.n = min(self.n + len(act), self.capacity)


class QNet:
    def __init__(self, rng, dims=(OBS, 512, 256, ACTIONS)):
        self.w = [(rng.standard_normal((a, b)) * np.sqrt(2 / a)).astype(np.float32) for a, b in zip(dims, dims[1:])]
        self.v = [np.zeros_like(w) for w in self.w]

    def forward(self, x):
        acts = [x]
        for w in self.w[:-1]:
            acts.append(np.maximum(acts[-1] @ w, 0))
        return acts, acts[-1] @ self.w[-1]

    def learn(self, x, act, target, lr=0.02):
        acts, q = self.forward(x)
        rows = np.arange(len(act))
        err = np.clip(q[rows, act] - target, -1, 1)
        delta = np.zeros_like(q)
        delta[rows, act] = err / len(act)
        for k in range(len(self.w) - 1, -1, -1):
            g = acts[k].T @ delta
            if k:
                delta = (delta @ self.w[k].T) * (acts[k] > 0)
            self.v[k] = 0.9 * self.v[k] + g
            self.w[k] -= lr * self.v[k]
        return float((err ** 2).mean())


rng = np.random.default_rng(21)
floors, replay = Floors(rng), Replay()
net, target_net = QNet(rng), QNet(rng)
obs, won, tic = floors.observe(), 0.0, time.time()
for step in range(1, 5_000_000):
    greedy = net.forward(obs)[1].argmax(1)
    eps = max(0.05, 1 - step / 3000)
    action = np.where(rng.random(ROBOTS) < eps, rng.integers(0, ACTIONS, ROBOTS), greedy)
    nxt, reward, done = floors.step(action)
    replay.add(obs, action, reward, nxt, done)
    obs, won = nxt, won + reward.sum()
    j = rng.integers(0, replay.n, 256)
    best = target_net.forward(replay.nxt[j])[1].max(1)
    loss = net.learn(replay.obs[j], replay.act[j], replay.rew[j] + 0.97 * (1 - replay.end[j]) * best)
    if step % 300 == 0:
        target_net.w = [w.copy() for w in net.w]
    if step % 25 == 0:
        print(f"step={step} replay={replay.n} eps={eps:.2f} reward={won / 25:.2f} td={loss:.5f} {time.time() - tic:.0f}s", flush=True)
        won = 0.0
