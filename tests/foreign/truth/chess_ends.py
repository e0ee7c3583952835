# python: plain
# truth: step=computes, wait=waits for data, play=waits for child
# Why: a process of its own makes the positions and is the slower one; another program judges the weights now and then.
import multiprocessing
import subprocess
import sys

import numpy as np

from stopwatch import part, started

JUDGE = "print(sum(i * i % 7 for i in range(3_000_000)))"


def make_positions(queue, seed):
    rng = np.random.default_rng(seed)
    while True:
        boards = np.zeros((256, 768), np.float32)
        for board in boards:
            board[rng.permutation(768)[:rng.integers(3, 9)]] = 1
            np.sort(rng.normal(size=3_000))
        queue.put((boards, rng.normal(size=(256, 1)).astype(np.float32)))


def train_step(weights, x, y):
    hidden = np.maximum(x @ weights[0], 0)
    error = hidden @ weights[1] - y
    slope = error / len(x)
    change = x.T @ ((slope @ weights[1].T) * (hidden > 0))
    weights[1] -= 0.01 * (hidden.T @ slope)
    weights[0] -= 0.01 * change
    return float((error ** 2).mean())


def main():
    context = multiprocessing.get_context("fork")
    queue = context.Queue(maxsize=2)
    context.Process(target=make_positions, args=(queue, 1), daemon=True).start()
    rng = np.random.default_rng(2)
    weights = [rng.normal(0, 0.05, (768, 768)).astype(np.float32), rng.normal(0, 0.05, (768, 1)).astype(np.float32)]
    boards, values = queue.get()
    step = 0
    started()
    while True:
        with part("step"):
            loss = train_step(weights, boards, values)
            step += 1
        if step % 20 == 0:
            with part("play"):
                subprocess.run([sys.executable, "-c", JUDGE], stdout=subprocess.DEVNULL, check=True)
            print(f"step {step} loss {loss:.4f}", flush=True)
        with part("wait"):
            boards, values = queue.get()


if __name__ == "__main__":
    main()
