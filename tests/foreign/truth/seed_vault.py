# python: plain
# truth: step=computes, turn=waits for file lock, save=checkpoints, rest=sleeps
# Why: two jobs take turns at a shared file by a lock of the kernel; the weights are saved; the loop sleeps a little.
import fcntl
import multiprocessing
import os
import tempfile
import time

import numpy as np

from stopwatch import part, started


def other_job(path):
    """Holds the file for a while, over and over, as a second training would that writes its results there."""
    while True:
        with open(path, "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write("0.5\n")
            file.flush()
            time.sleep(0.12)
            fcntl.flock(file, fcntl.LOCK_UN)
        time.sleep(0.08)


def publish(path, loss):
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(f"{loss}\n")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_UN)


def save_weights(folder, weights):
    path = os.path.join(folder, "weights.npz")
    np.savez(path, *weights)
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def train_step(weights, x, y):
    hidden = np.tanh(x @ weights[0])
    error = hidden @ weights[1] - y
    slope = error / len(x)
    change = hidden.T @ slope
    weights[0] -= 0.01 * (x.T @ ((slope @ weights[1].T) * (1 - hidden ** 2)))
    weights[1] -= 0.01 * change
    return float((error ** 2).mean())


def main():
    folder = tempfile.mkdtemp()
    results = os.path.join(folder, "results.txt")
    multiprocessing.get_context("fork").Process(target=other_job, args=(results,), daemon=True).start()
    rng = np.random.default_rng(3)
    weights = [rng.normal(0, 0.05, (800, 1600)), rng.normal(0, 0.05, (1600, 40))]
    seeds, kinds = rng.normal(size=(4_096, 800)), rng.normal(size=(4_096, 40))
    step = 0
    started()
    while True:
        with part("step"):
            pick = slice((step * 200) % 3_800, (step * 200) % 3_800 + 200)
            loss = train_step(weights, seeds[pick], kinds[pick])
            step += 1
        with part("turn"):
            publish(results, loss)
        with part("rest"):
            time.sleep(0.02)
        if step % 4 == 0:
            with part("save"):
                save_weights(folder, weights)
            print(f"step {step} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
