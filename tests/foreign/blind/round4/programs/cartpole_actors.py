# python: plain
# expected: lock-order
# verdict: stuck
# seconds: 35
# how: attach
# where: with self.weights_lock / with self.buffer_lock
# Why: Now and then the actor takes the buffer's lock and then the weights' lock, the learner the other way round; sooner or later each holds one and waits for the other.
import threading

import numpy as np


class Shared:
    def __init__(self, rng):
        self.weights = rng.standard_normal((4, 2)) * 0.1
        self.baseline = 0.0
        self.buffer = []
        self.weights_lock = threading.Lock()
        self.buffer_lock = threading.Lock()
        self.episodes = 0
        self.fresh = threading.Event()

    def add_episode(self, states, actions, rewards):
        returns = np.cumsum(rewards[::-1])[::-1]
        with self.buffer_lock:
            self.buffer.append((np.array(states), np.array(actions), returns - self.baseline))
            self.episodes += 1
            if self.episodes % 40 == 0:
                recent = np.mean([len(actions) for _, actions, _ in self.buffer])
                with self.weights_lock:
                    self.baseline += 0.2 * (recent / 2 - self.baseline)
        if len(self.buffer) >= 12:
            self.fresh.set()

    def policy(self):
        with self.weights_lock:
            return self.weights.copy()

    def learn(self, lr=0.002):
        with self.weights_lock:
            with self.buffer_lock:
                taken, self.buffer = self.buffer, []
                self.fresh.clear()
            weights = self.weights.copy()
        lengths = []
        for states, actions, advantage in taken:
            logits = states @ weights
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            p[np.arange(len(actions)), actions] -= 1.0
            weights -= lr * states.T @ (p * advantage[:, None]) / len(actions)
            lengths.append(len(actions))
        with self.weights_lock:
            self.weights = weights
        return lengths


def simulate(weights, rng):
    x = rng.uniform(-0.05, 0.05, 4)
    states, actions, rewards = [], [], []
    for _ in range(200):
        logits = x @ weights
        right = rng.random() < 1 / (1 + np.exp(logits[0] - logits[1]))
        states.append(x.copy())
        actions.append(int(right))
        rewards.append(1.0)
        force = 10.0 if right else -10.0
        cos, sin = np.cos(x[2]), np.sin(x[2])
        temp = (force + 0.05 * x[3] ** 2 * sin) / 1.1
        turn = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
        x = x + 0.02 * np.array([x[1], temp - 0.05 * turn * cos / 1.1, x[3], turn])
        if abs(x[0]) > 2.4 or abs(x[2]) > 0.21:
            break
    return states, actions, rewards


def actor(shared, seed):
    rng = np.random.default_rng(seed)
    while True:
        shared.add_episode(*simulate(shared.policy(), rng))


def main():
    shared = Shared(np.random.default_rng(0))
    for seed in (11, 12):
        threading.Thread(target=actor, args=(shared, seed), daemon=True).start()
    step, mean = 0, 20.0
    while True:
        shared.fresh.wait()
        lengths = shared.learn()
        if not lengths:
            continue
        step += 1
        mean = 0.95 * mean + 0.05 * float(np.mean(lengths))
        if step % 5 == 0:
            print(f"step {step} episodes {shared.episodes} loss {-mean:.2f}", flush=True)


main()
