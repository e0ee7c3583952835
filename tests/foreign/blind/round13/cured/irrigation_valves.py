# python: plain
# The same program without its fault.
"""Learn when to open four irrigation valves; a second process (--field) simulates the farms and speaks JSON lines."""
import json
import logging
import subprocess
import sys
import time

import numpy as np

PLOTS = 16
VALVES = 4
BATCH = 24
HORIZON = 12


class Field:
    """Moisture of sixteen plots on each of BATCH farms; each valve waters four of them, some run over to the next."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.log = logging.getLogger("field")

    def reset(self):
        self.moisture = self.rng.uniform(0.2, 0.8, (BATCH, PLOTS))
        self.sun = self.rng.uniform(0.5, 1.5, (BATCH, 1))
        self.hour = 0

    def state(self):
        return np.hstack([self.moisture, self.sun]).round(4).tolist()

    def water(self, opened):
        supply = np.repeat(np.asarray(opened, float), PLOTS // VALVES, axis=1) * 0.2
        self.moisture += supply + 0.3 * np.roll(supply, 1, axis=1)
        self.moisture -= 0.09 * self.sun * self.moisture.clip(0.1) + self.rng.normal(0, 0.01, self.moisture.shape)
        self.moisture = self.moisture.clip(0, 1.5)
        self.hour += 1
        cost = ((self.moisture - 0.5) ** 2).mean(1) * 10 + 0.02 * np.sum(opened, axis=1)
        self.log.info("hour %d: moisture %.3f to %.3f", self.hour, self.moisture.min(), self.moisture.max())
        self.log.info("hour %d: water used %.2f, cost %.3f to %.3f", self.hour, supply.sum(), cost.min(), cost.max())
        return cost.round(5).tolist()


def run_field():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    field = Field(seed=7)
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "reset":
            field.reset()
        cost = field.water(request["open"]) if request["do"] == "water" else None
        print(json.dumps({"cost": cost, "state": field.state()}), flush=True)


class FieldProcess:
    def __init__(self):
        pipe = subprocess.PIPE
        command = [sys.executable, __file__, "--field"]
        self.child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)

    def ask(self, **request):
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        reply = self.child.stdout.readline()
        answer = json.loads(reply)
        return (np.array(answer["state"]) - 0.5) * 2, answer["cost"]


class Policy:
    def __init__(self, hidden=384, seed=0):
        self.rng = np.random.default_rng(seed)
        sizes = [(PLOTS + 1, hidden), (hidden, hidden), (hidden, VALVES)]
        self.w = [self.rng.normal(0, 1 / np.sqrt(a), (a, b)) for a, b in sizes]
        self.speed = [np.zeros_like(w) for w in self.w]

    def forward(self, x):
        h1 = np.tanh(x @ self.w[0])
        h2 = np.tanh(h1 @ self.w[1])
        return h1, h2, 1 / (1 + np.exp(-(h2 @ self.w[2])))

    def decide(self, state):
        return (self.rng.random((len(state), VALVES)) < self.forward(state)[2]).astype(float)

    def learn(self, x, actions, advantage, lr=1e-3):
        h1, h2, p = self.forward(x)
        d = (p - actions) * advantage[:, None] / len(x)
        d2 = d @ self.w[2].T * (1 - h2**2)
        d1 = d2 @ self.w[1].T * (1 - h1**2)
        for w, speed, g in zip(self.w, self.speed, (x.T @ d1, h1.T @ d2, h2.T @ d)):
            speed *= 0.8
            speed += g / (np.sqrt((g * g).mean()) + 1e-8)
            w -= lr * speed


def main():
    field, policy = FieldProcess(), Policy()
    began = time.time()
    decisions = 0
    for episode in range(1, 20001):
        state, _ = field.ask(do="reset")
        states, actions, costs = [], [], []
        for _ in range(HORIZON):
            action = policy.decide(state)
            states.append(state)
            actions.append(action)
            state, cost = field.ask(do="water", open=action.tolist())
            costs.append(cost)
            decisions += 1
        ahead = np.cumsum(np.array(costs)[::-1], axis=0)[::-1]
        advantage = -(ahead - ahead.mean(1, keepdims=True))
        advantage /= advantage.std() + 1e-6
        policy.learn(np.concatenate(states), np.concatenate(actions), advantage.reshape(-1))
        if episode % 5 == 0:
            spent = time.time() - began
            print(f"decision {decisions:6d} episode {episode:5d} cost {np.mean(costs):.4f} {spent:.1f} s", flush=True)


if __name__ == "__main__":
    run_field() if "--field" in sys.argv else main()
