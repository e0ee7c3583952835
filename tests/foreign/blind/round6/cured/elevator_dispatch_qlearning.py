# python: plain
import random
import time
from dataclasses import dataclass

import numpy as np

FLOORS = 10
ACTIONS = 3            # down, stay, up


@dataclass
class Transition:
    state: list
    action: int
    reward: float
    after: list
    info: dict


class Elevator:
    def __init__(self, rng):
        self.rng = rng
        self.floor = 0
        self.waiting = [0] * FLOORS

    def observe(self):
        return [self.floor / FLOORS] + [min(w, 5) / 5 for w in self.waiting]

    def act(self, action):
        self.floor = min(FLOORS - 1, max(0, self.floor + action - 1))
        if self.rng.random() < 0.35:
            self.waiting[self.rng.randrange(FLOORS)] += 1
        served = 0
        if action == 1:
            served = self.waiting[self.floor]
            self.waiting[self.floor] = 0
        return served - 0.1 * sum(self.waiting), {"floor": self.floor, "served": served}


class Memory:
    def __init__(self, capacity):
        self.capacity, self.items, self.at = capacity, [], 0

    def add(self, item):
        if len(self.items) < self.capacity:
            self.items.append(item)
        else:
            self.items[self.at] = item
            self.at = (self.at + 1) % self.capacity


class QNet:
    def __init__(self, hidden=96, seed=0):
        g = np.random.default_rng(seed)
        self.w1 = g.normal(0, 0.3, (FLOORS + 1, hidden))
        self.w2 = g.normal(0, 0.1, (hidden, ACTIONS))

    def values(self, s):
        self.h = np.maximum(s @ self.w1, 0)
        return self.h @ self.w2

    def learn(self, batch, lr=1e-3, gamma=0.95):
        s = np.array([b.state for b in batch])
        after = np.array([b.after for b in batch])
        a = np.array([b.action for b in batch])
        target = np.array([b.reward for b in batch]) + gamma * self.values(after).max(1)
        q = self.values(s)
        err = np.clip(q[np.arange(len(a)), a] - target, -1, 1)
        dq = np.zeros_like(q)
        dq[np.arange(len(a)), a] = err / len(a)
        dh = (dq @ self.w2.T) * (self.h > 0)
        self.w2 -= lr * self.h.T @ dq
        self.w1 -= lr * s.T @ dh
        return float(np.mean(err ** 2))


def main():
    rng = random.Random(5)
    env, memory, net = Elevator(rng), Memory(60000), QNet()
    state = env.observe()
    for _ in range(60000):
        action = rng.randrange(ACTIONS)
        reward, info = env.act(action)
        after = env.observe()
        memory.add(Transition(state, action, reward, after, info))
        state = after
        if max(env.waiting) > 30:
            env.waiting = [0] * FLOORS
    print("memory holds", len(memory.items), "transitions", flush=True)

    t0, total = time.time(), 0.0
    for update in range(1, 10_000_000):
        for _ in range(4):
            greedy = rng.random() > 0.1
            action = int(net.values(np.array([state])).argmax()) if greedy else rng.randrange(ACTIONS)
            reward, info = env.act(action)
            total += reward
            after = env.observe()
            memory.add(Transition(state, action, reward, after, info))
            state = after
        loss = net.learn([memory.items[rng.randrange(len(memory.items))] for _ in range(128)])
        if update % 25 == 0:
            print(f"update {update}  td {loss:.4f}  reward {total / 100:.3f}  {time.time() - t0:.1f}s", flush=True)
            total = 0.0


if __name__ == "__main__":
    main()
