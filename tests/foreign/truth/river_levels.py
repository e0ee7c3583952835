# python: plain
# truth: batch=makes data, step=computes, report=runs own code
# Why: a network by hand in numpy; windows are cut and warped on the same thread; a table is made in plain Python.
import numpy as np

from stopwatch import part, started


class Network:
    def __init__(self, rng, sizes):
        self.weights = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]

    def train_step(self, x, y, rate):
        kept = [x]
        for weights in self.weights[:-1]:
            kept.append(np.maximum(kept[-1] @ weights, 0))
        error = kept[-1] @ self.weights[-1] - y
        slope = 2 * error / len(x)
        for i in range(len(self.weights) - 1, -1, -1):
            change = kept[i].T @ slope
            if i:
                slope = (slope @ self.weights[i].T) * (kept[i] > 0)
            self.weights[i] -= rate * change
        return float((error ** 2).mean())


def make_batch(rng, levels, count, length):
    starts = rng.integers(0, len(levels) - 2 * length, count)
    grid = np.linspace(0, length - 1, length)
    windows = np.empty((count, length), np.float32)
    for i, start in enumerate(starts):
        warped = grid + 3 * np.sin(grid / length * np.pi * rng.random())
        windows[i] = np.interp(warped, np.arange(length + 8), levels[start:start + length + 8])
        windows[i] += np.convolve(windows[i], np.hanning(9) / 4, mode="same")
    return windows - windows.mean(axis=1, keepdims=True), levels[starts + length, None].astype(np.float32)


def quantile_table(values):
    rows = []
    for share in range(100):
        below = sorted(value for value in values)
        rows.append(below[int(share / 100 * len(below))])
    return rows


def main():
    rng = np.random.default_rng(11)
    levels = np.cumsum(rng.normal(size=200_000)) / 100
    network = Network(rng, (256, 512, 512, 1))
    losses, step = [0.0] * 400, 0
    started()
    while True:
        with part("batch"):
            x, y = make_batch(rng, levels, 512, 256)
        with part("step"):
            losses.append(network.train_step(x, y, 1e-4))
            step += 1
        if step % 5 == 0:
            with part("report"):
                table = quantile_table(losses[-400:] * 8)
            print(f"step {step} loss {losses[-1]:.4f} median {table[50]:.4f}", flush=True)


if __name__ == "__main__":
    main()
