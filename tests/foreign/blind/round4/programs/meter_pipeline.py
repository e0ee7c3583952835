# python: plain
# expected: worker-died [also accepted: waits-for-pipe, source-never-yields]
# verdict: stuck
# seconds: 30
# where: batches.get() / float(fields
# Why: The reader processes end with a ValueError at a malformed record; the training loop waits for their next batch in the queue for ever and never looks whether they are alive.
import csv
import multiprocessing as mp
import os
import tempfile

import numpy as np

COLUMNS, BATCH = 10, 64


def write_readings(path, seed, rows=150000):
    rng = np.random.default_rng(seed)
    truth = np.linspace(-1, 1, COLUMNS)
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        done = 0
        while done < rows:
            x = rng.standard_normal((1000, COLUMNS)).round(4)
            y = (np.tanh(x @ truth) + 0.1 * rng.standard_normal(1000)).round(4)
            for values, target in zip(x.tolist(), y.tolist()):
                out.writerow(values + [target if done != 93007 + seed * 900 else "n/a"])
                done += 1


def read_batches(path, batches):
    while True:
        x, y = [], []
        with open(path, newline="") as f:
            for fields in csv.reader(f):
                x.append([float(v) for v in fields[:COLUMNS]])
                y.append(float(fields[COLUMNS]))
                if len(x) == BATCH:
                    batches.put((np.array(x, np.float32), np.array(y, np.float32)))
                    x, y = [], []


class Net:
    def __init__(self, rng, hidden=128):
        self.w1 = rng.standard_normal((COLUMNS, hidden)) / 3
        self.b1 = np.zeros(hidden)
        self.w2 = rng.standard_normal(hidden) / 12

    def step(self, x, y, lr=0.05):
        h = np.tanh(x @ self.w1 + self.b1)
        error = h @ self.w2 - y
        dh = np.outer(error, self.w2) * (1 - h * h) / len(y)
        self.w2 -= lr * h.T @ error / len(y)
        self.w1 -= lr * x.T @ dh
        self.b1 -= lr * dh.sum(0)
        return float((error ** 2).mean())


def main():
    with tempfile.TemporaryDirectory() as folder:
        batches = mp.Queue(maxsize=16)
        for seed in range(2):
            path = os.path.join(folder, f"meter_{seed}.csv")
            write_readings(path, seed)
            mp.Process(target=read_batches, args=(path, batches), daemon=True).start()
        net = Net(np.random.default_rng(5))
        step, average = 0, 1.0
        while step < 500000:
            x, y = batches.get()
            average = 0.99 * average + 0.01 * net.step(x, y)
            step += 1
            if step % 50 == 0:
                print(f"step {step} loss {average:.4f}", flush=True)


if __name__ == "__main__":
    main()
