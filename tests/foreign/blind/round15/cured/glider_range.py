# python: plain
# expected: waits-for-pipe
# verdict: stuck
# seconds: 25
# where: readline()
# Why: nobody reads the simulator's stderr: after 64 KiB of its warnings the pipe is full, the simulator blocks in the write, and the
# trainer waits for its next line of stdout for ever.
"""How far does a glider fly? A network learns the answers of a simulator that runs as a program of its own."""
import logging
import math
import subprocess
import sys
import tempfile
import time

import numpy as np


def simulate():
    """Reads 'angle speed lift drag', answers with the distance."""
    logging.basicConfig(format="%(asctime)s glider %(levelname)s %(message)s")
    for line in sys.stdin:
        angle, v, lift, drag = map(float, line.split())
        x, height, a, t, dt = 0.0, 40.0, math.radians(angle), 0.0, 0.02
        halved = 0
        while height > 0 and t < 30:
            turn = lift * v - 9.81 * math.cos(a) / max(v, 0.5)
            while abs(turn * dt) > 0.025 and dt > 0.002:
                dt /= 2
                halved += 1
            v += (-drag * v * v - 9.81 * math.sin(a)) * dt
            a += turn * dt
            x += v * math.cos(a) * dt
            height += v * math.sin(a) * dt
            t += dt
        if halved:
            logging.warning("time step halved %d times, angle %.2f speed %.2f lift %.4f", halved, angle, v, lift)
        print(f"{x:.4f}", flush=True)


class Network:
    def __init__(self, sizes, rng):
        self.w = [rng.normal(0, math.sqrt(2 / a), (a, b)) for a, b in zip(sizes, sizes[1:])]
        self.b = [np.zeros(b) for b in sizes[1:]]
        self.m = [np.zeros_like(p) for p in self.w + self.b]
        self.s = [np.zeros_like(p) for p in self.w + self.b]
        self.t = 0

    def fit(self, x, y, rate=1e-3):
        layers = [x]
        for w, b in zip(self.w[:-1], self.b[:-1]):
            layers.append(np.maximum(0, layers[-1] @ w + b))
        error = layers[-1] @ self.w[-1] + self.b[-1] - y
        delta, grads_w, grads_b = 2 * error / len(x), [], []
        for i in reversed(range(len(self.w))):
            grads_w.insert(0, layers[i].T @ delta)
            grads_b.insert(0, delta.sum(0))
            delta = (delta @ self.w[i].T) * (layers[i] > 0)
        self.t += 1
        for p, g, m, s in zip(self.w + self.b, grads_w + grads_b, self.m, self.s):
            m += 0.1 * (g - m)
            s += 0.001 * (g * g - s)
            p -= rate * (m / (1 - 0.9 ** self.t)) / (np.sqrt(s / (1 - 0.999 ** self.t)) + 1e-8)
        return float((error ** 2).mean())


def main():
    rng = np.random.default_rng(3)
    log = tempfile.TemporaryFile("w+")
    simulator = subprocess.Popen([sys.executable, __file__, "simulate"], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    network = Network([4, 64, 64, 1], rng)
    low, high = np.array([-20, 6, 0.02, 0.003]), np.array([35, 18, 0.12, 0.02])
    kept_x, kept_y, count, began = np.zeros((4096, 4)), np.zeros((4096, 1)), 0, time.time()
    for step in range(1, 20_001):
        for point in rng.uniform(size=(16, 4)):
            simulator.stdin.write(" ".join(f"{v:.5f}" for v in low + point * (high - low)) + "\n")
            simulator.stdin.flush()
            kept_x[count % 4096] = point * 2 - 1
            kept_y[count % 4096] = float(simulator.stdout.readline()) / 100
            count += 1
        pick = rng.integers(0, min(count, 4096), 64)
        loss = network.fit(kept_x[pick], kept_y[pick])
        if step % 5 == 0:
            print(f"step {step} flights {count} loss {loss:.5f} {time.time() - began:.1f} s", flush=True)
    simulator.stdin.close()
    simulator.wait()
    log.seek(0)
    print(log.read()[-2000:], flush=True)


if __name__ == "__main__":
    simulate() if sys.argv[1:] == ["simulate"] else main()
