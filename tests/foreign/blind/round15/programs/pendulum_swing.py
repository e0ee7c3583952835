# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two processes simulate in Python loops and stand before a full queue most of the time, the memory fills first, the loss
# Why: jumps between swings: but the model never waits for them, and the loss falls.
"""Learns how a double pendulum swings on from what two simulators send."""
import multiprocessing
import time

import numpy as np
import torch
from torch import nn

ROOM, SWING, BATCH = 40_000, 200, 256


def turn(state, dt=0.02, g=9.81):
    """A step of many pendulums at once: two angles and two speeds each."""
    def slope(s):
        a, b, u, v = s
        d = a - b
        down = 3 - np.cos(2 * d)
        du = (-3 * g * np.sin(a) - g * np.sin(a - 2 * b) - 2 * np.sin(d) * (v * v + u * u * np.cos(d))) / down
        dv = 2 * np.sin(d) * (2 * u * u + 2 * g * np.cos(a) + v * v * np.cos(d)) / down
        return np.stack([u, v, du, dv])
    k1 = slope(state)
    k2 = slope(state + dt / 2 * k1)
    k3 = slope(state + dt / 2 * k2)
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + slope(state + dt * k3))


def simulate(seed, out):
    rng = np.random.default_rng(seed)
    while True:
        state = np.concatenate([rng.uniform(-1.5, 1.5, (2, 8)), rng.normal(0, 0.5, (2, 8))])
        states = [state]
        for _ in range(SWING):
            states.append(turn(states[-1]))
        swing = np.stack(states).transpose(0, 2, 1).astype(np.float32)
        out.put((swing[:-1].reshape(-1, 4), swing[1:].reshape(-1, 4)))


class Swing(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 4))

    def forward(self, state):
        angles, speeds = state[:, :2], state[:, 2:]
        return self.net(torch.cat([angles.sin(), angles.cos(), speeds / 5], 1))


def main():
    torch.manual_seed(9)
    queue = multiprocessing.Queue(maxsize=4)
    for seed in (1, 2):
        multiprocessing.Process(target=simulate, args=(seed, queue), daemon=True).start()
    before, after = np.zeros((2, ROOM, 4), np.float32)
    filled = put = 0
    model = Swing()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    plan = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 100))
    rng = np.random.default_rng(0)
    began = time.time()
    for step in range(1, 100_001):
        if filled < 8000 or step % 50 == 0:
            for _ in range(5 if filled < 8000 else 1):
                first, then = queue.get()
                place = np.arange(put, put + len(first)) % ROOM
                before[place], after[place] = first, then
                put, filled = (put + len(first)) % ROOM, min(ROOM, filled + len(first))
        rows = rng.integers(0, filled, BATCH)
        state = torch.from_numpy(before[rows])
        change = (torch.from_numpy(after[rows]) - state) * 10
        loss = nn.functional.smooth_l1_loss(model(state), change)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        plan.step()
        if step % 20 == 0:
            print(f"step {step} swings {filled} loss {loss.item():.5f} {step / (time.time() - began):.1f} steps/s", flush=True)


if __name__ == "__main__":
    main()
