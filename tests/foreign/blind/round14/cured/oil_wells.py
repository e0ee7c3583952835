# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the simulator's stderr is a pipe that nobody reads. When its warnings have filled it (64 KiB), the simulator waits in its write and
# training waits for the next line of stdout. The cured one sends stderr to DEVNULL.
"""Learns the pressure in an oil field from the rates of its wells; a simulator in a process of its own makes the examples."""
import subprocess
import sys
import time

import numpy as np

WELLS, CELLS = 6, 12
SIMULATOR = r'''
import sys
import numpy as np
rng = np.random.default_rng(int(sys.argv[1]))
wells, cells = int(sys.argv[2]), int(sys.argv[3])
places = [(1, 1), (1, 10), (10, 1), (10, 10), (5, 6), (7, 3)][:wells]
while True:
    rates = rng.uniform(0.2, 1.0, wells)
    pressure = np.ones((cells, cells))
    for sweep in range(160):
        inner = (pressure[:-2, 1:-1] + pressure[2:, 1:-1] + pressure[1:-1, :-2] + pressure[1:-1, 2:]) / 4
        change = np.abs(inner - pressure[1:-1, 1:-1]).max()
        pressure[1:-1, 1:-1] = inner
        for (y, x), rate in zip(places, rates):
            pressure[y, x] -= 0.05 * rate
    if change > 1e-3:
        print(f"WARNING: pressure not settled after {sweep + 1} sweeps, largest change {change:.2e}", file=sys.stderr, flush=True)
    print(" ".join(f"{v:.5f}" for v in (*rates, *pressure[1:-1:3, 1:-1:3].ravel())), flush=True)
'''


class Field:
    """Starts the simulator and reads one example after the other."""

    def __init__(self, seed):
        self.simulator = subprocess.Popen([sys.executable, "-c", SIMULATOR, str(seed), str(WELLS), str(CELLS)],
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def batch(self, size):
        rows = []
        while len(rows) < size:
            rows.append([float(v) for v in self.simulator.stdout.readline().split()])
        rows = np.array(rows)
        return (rows[:, :WELLS] - 0.6) / 0.23, rows[:, WELLS:]


class Surrogate:
    def __init__(self, inputs, hidden, outputs, rng):
        sizes = [inputs, hidden, hidden, outputs]
        self.params = []
        for before, after in zip(sizes, sizes[1:]):
            self.params += [rng.normal(0, np.sqrt(1 / before), (before, after)), np.zeros(after)]
        self.first = [np.zeros_like(p) for p in self.params]
        self.second = [np.zeros_like(p) for p in self.params]
        self.count = 0

    def forward(self, x):
        self.outs = [x]
        for i in range(0, len(self.params), 2):
            x = x @ self.params[i] + self.params[i + 1]
            if i + 2 < len(self.params):
                x = np.tanh(x)
            self.outs.append(x)
        return x

    def learn(self, x, y, rate=2e-3):
        error = self.forward(x) - y
        grad, grads = 2 * error / error.size, []
        for i in reversed(range(0, len(self.params), 2)):
            grads = [self.outs[i // 2].T @ grad, grad.sum(0)] + grads
            if i:
                grad = grad @ self.params[i].T * (1 - self.outs[i // 2] ** 2)
        self.count += 1
        for p, g, m, v in zip(self.params, grads, self.first, self.second):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            p -= rate * (m / (1 - 0.9 ** self.count)) / (np.sqrt(v / (1 - 0.999 ** self.count)) + 1e-8)
        return (error ** 2).mean()


def main():
    rng = np.random.default_rng(2)
    field = Field(seed=42)
    scale_x, scale_y = field.batch(20)
    mean, spread = scale_y.mean(0), scale_y.std(0) + 1e-6
    model = Surrogate(WELLS, 96, scale_y.shape[1], rng)
    bank_x, bank_y = scale_x, (scale_y - mean) / spread
    began = time.time()
    for step in range(1, 200001):
        x, y = field.batch(4)
        bank_x, bank_y = np.vstack([bank_x, x])[-2000:], np.vstack([bank_y, (y - mean) / spread])[-2000:]
        for _ in range(4):
            rows = rng.integers(0, len(bank_x), 64)
            loss = model.learn(bank_x[rows], bank_y[rows])
        if step % 4 == 0:
            print(f"step {step} loss {loss:.5f} {step * 4 / (time.time() - began):.0f} simulations/s", flush=True)


if __name__ == "__main__":
    main()
