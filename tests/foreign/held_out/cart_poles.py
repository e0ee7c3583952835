# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# env: OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
# Why: evolution in numpy alone: two fresh processes a generation play the carts and end, the parent does nothing but
# wait in recv for them. Processes come and go (exit status 0) and the parent sleeps, but both cores are at work on
# arithmetic all the time and the loss falls with every few lines.
import multiprocessing
import time
from types import SimpleNamespace

import numpy as np

CFG = SimpleNamespace(pairs=4, carts=256, ticks=150, hidden=96, sigma=0.05, lr=0.01, generations=2000, jobs=2)
SHAPES = [(4, CFG.hidden), (CFG.hidden, CFG.hidden), (CFG.hidden, 1)]
SIZE = sum(a * b for a, b in SHAPES)


def unpack(theta):
    at = 0
    for a, b in SHAPES:
        yield theta[at:at + a * b].reshape(a, b)
        at += a * b


def play(theta):
    """Mean reward of many carts at once: upright poles near the middle of the track."""
    w1, w2, w3 = unpack(theta)
    rng = np.random.default_rng(77)
    x, v, angle, spin = rng.uniform(-0.2, 0.2, (4, CFG.carts))
    reward = 0.0
    for _ in range(CFG.ticks):
        h = np.tanh(np.stack([x, v, angle, spin], 1) @ w1)
        force = 10 * np.tanh(np.tanh(h @ w2) @ w3)[:, 0]
        sin, cos = np.sin(angle), np.cos(angle)
        push = (force + 0.05 * spin ** 2 * sin) / 1.1
        turn = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
        pull = push - 0.05 * turn * cos / 1.1
        x, v = np.clip(x + 0.02 * v, -3, 3), np.clip(v + 0.02 * pull, -5, 5)
        angle, spin = angle + 0.02 * spin, np.clip(spin + 0.02 * turn, -8, 8)
        reward += np.mean(np.cos(angle) - 0.05 * x ** 2)
    return reward / CFG.ticks


def work(theta, seeds, wire):
    found = []
    for seed in seeds:
        noise = np.random.default_rng(seed).standard_normal(SIZE)
        found.append((seed, play(theta + CFG.sigma * noise), play(theta - CFG.sigma * noise)))
    wire.send(found)
    wire.close()


def generation(theta, number):
    """Fresh processes each time, so that they start from the theta of now."""
    seeds = np.random.SeedSequence(number).generate_state(2 * CFG.pairs)
    wires, crew = [], []
    for job in range(CFG.jobs):
        ours, theirs = multiprocessing.Pipe(duplex=False)
        member = multiprocessing.Process(target=work, args=(theta, seeds[job::CFG.jobs].tolist(), theirs))
        member.start()
        theirs.close()
        wires.append(ours)
        crew.append(member)
    found = [one for wire in wires for one in wire.recv()]
    for member in crew:
        member.join()
    return found


def update(theta, found):
    scores = np.array([[up, down] for _, up, down in found])
    spread = scores.std() + 1e-8
    for seed, up, down in found:
        noise = np.random.default_rng(seed).standard_normal(SIZE)
        theta = theta + CFG.lr * (up - down) / spread / len(found) * noise
    return theta, scores.mean()


if __name__ == "__main__":
    theta = np.concatenate([np.random.default_rng(1).normal(0, a ** -0.5, a * b) for a, b in SHAPES])
    began = time.monotonic()
    for number in range(CFG.generations):
        theta, score = update(theta, generation(theta, number))
        print("gen", number, "|", f"loss {1 - score:.4f}", "|", f"{time.monotonic() - began:.1f}s", flush=True)
