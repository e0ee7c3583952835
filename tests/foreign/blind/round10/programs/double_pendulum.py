# python: loops
# expected: waits-for-pipe
# verdict: stuck
# seconds: 32
# where: self.engine.stdout.read
# Why: the simulator's stderr is a pipe that nobody reads; once its log has filled the pipe (64 KiB) the simulator hangs in its
# write, and the training waits for ever for the next block on the simulator's stdout.
"""Learn the flow map of a double pendulum from a simulator that runs as its own process."""
import os
import subprocess
import sys

import numpy as np

BLOCK, STATE = 512, 4
DT, SUBSTEPS = 0.01, 5


def derivative(s):
    a, b, wa, wb = s.T
    d = a - b
    den = 3 - np.cos(2 * d)
    acc_a = (-29.43 * np.sin(a) - 9.81 * np.sin(a - 2 * b) - 2 * np.sin(d) * (wb ** 2 + wa ** 2 * np.cos(d))) / den
    acc_b = 2 * np.sin(d) * (2 * wa ** 2 + 19.62 * np.cos(a) + wb ** 2 * np.cos(d)) / den
    return np.stack([wa, wb, acc_a, acc_b], axis=1)


def engine_main():
    """The simulator: writes blocks of (state, state a moment later) as float32 to stdout, its log to stderr."""
    rng = np.random.default_rng(int(sys.argv[2]))
    block = 0
    while True:
        start = np.concatenate([rng.uniform(-1.5, 1.5, (BLOCK, 2)), rng.normal(0, 1.0, (BLOCK, 2))], axis=1)
        s = start
        for _ in range(SUBSTEPS):
            k1 = derivative(s)
            k2 = derivative(s + DT * k1)
            s = s + DT * (k1 + k2) / 2
        sys.stdout.buffer.write(np.concatenate([start, s], axis=1).astype(np.float32).tobytes())
        sys.stdout.buffer.flush()
        print(f"[engine] block={block:07d} episodes={BLOCK} substeps={SUBSTEPS} max_speed={np.abs(s[:, 2:]).max():.3f} "
              f"mean_energy={np.mean(s[:, 2] ** 2 + s[:, 3] ** 2):.5f} mean_angle={s[:, 0].mean():+.5f}/{s[:, 1].mean():+.5f}", file=sys.stderr)
        block += 1


class Simulator:
    def __init__(self, seed):
        command = [sys.executable, os.path.abspath(__file__), "--engine", str(seed)]
        self.engine = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={**os.environ, "OMP_NUM_THREADS": "1"})

    def next_block(self):
        raw = self.engine.stdout.read(BLOCK * 2 * STATE * 4)
        if len(raw) < BLOCK * 2 * STATE * 4:
            raise RuntimeError("simulator ended: " + self.engine.stderr.read().decode())
        pairs = np.frombuffer(raw, np.float32).reshape(BLOCK, 2, STATE)
        return pairs[:, 0].copy(), pairs[:, 1].copy()

    def close(self):
        self.engine.kill()
        self.engine.wait()


def train(steps=60_000):
    import torch
    from torch import nn

    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(STATE, 192), nn.Tanh(), nn.Linear(192, 192), nn.Tanh(), nn.Linear(192, STATE))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    sim = Simulator(seed=12)
    try:
        for step in range(1, steps + 1):
            before, after = map(torch.from_numpy, sim.next_block())
            loss = nn.functional.mse_loss(before + net(before), after)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step % 20 == 0:
                print(f"step {step:6d}  mse {loss.item():.6f}", flush=True)
    finally:
        sim.close()


if __name__ == "__main__":
    if "--engine" in sys.argv:
        engine_main()
    else:
        train()
