# python: plain
# expected: crashed [also accepted: limits-or-disk-full]
# verdict: crashed
# seconds: 40
# wrap: prlimit --nofile=256:256
# where: open(path, "rb") / self.handles
# Why: the reader keeps the handle of every shard it has touched ("opening is expensive"); with more shards than the process may have open files the
# run ends with "Too many open files" after some seconds.
import os
import tempfile
import numpy as np

SHARDS, ROWS, DIM = 900, 400, 40


def write_shards(folder):
    rng = np.random.default_rng(0)
    truth = rng.standard_normal(DIM)
    for k in range(SHARDS):
        x = rng.standard_normal((ROWS, DIM)).astype("float32")
        y = np.maximum(x @ truth, 0) + 0.1 * rng.standard_normal(ROWS)
        np.column_stack([x, y]).astype("float32").tofile(os.path.join(folder, f"part-{k:05d}.bin"))


class ShardReader:
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, n) for n in os.listdir(folder))
        self.handles = {}

    def load(self, k):
        path = self.paths[k]
        if path not in self.handles:
            self.handles[path] = open(path, "rb")
        f = self.handles[path]
        f.seek(0)
        data = np.frombuffer(f.read(), "float32").reshape(-1, DIM + 1)
        return data[:, :DIM], data[:, DIM]


folder = tempfile.mkdtemp(prefix="shards_")
write_shards(folder)
reader = ShardReader(folder)
rng = np.random.default_rng(4)
H = 48
w1 = rng.standard_normal((DIM, H)) / np.sqrt(DIM)
w2 = rng.standard_normal(H) / np.sqrt(H)
m1, m2 = np.zeros_like(w1), np.zeros_like(w2)
step = 0
for epoch in range(60):
    for n, k in enumerate(rng.permutation(SHARDS)):
        x, y = reader.load(k)
        for _ in range(20):
            for rows in np.array_split(rng.permutation(len(x)), 12):
                xb, yb = x[rows], y[rows]
                z = xb @ w1
                h = np.maximum(z, 0)
                error = h @ w2 - yb
                g2 = h.T @ error / len(rows)
                g1 = xb.T @ (np.outer(error, w2) * (z > 0)) / len(rows)
                m1, m2 = 0.9 * m1 + g1, 0.9 * m2 + g2
                w1 -= 0.002 * m1
                w2 -= 0.002 * m2
                step += 1
        if n % 5 == 0:
            print(f"epoch {epoch} shard {n} step {step} mse {np.mean(error ** 2):.5f}", flush=True)
