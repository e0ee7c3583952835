# python: plain
# expected: limits-or-disk-full [also accepted: source-never-yields, loop-never-ends]
# verdict: stuck
# wrap: prlimit --nofile=64
# seconds: 35
# where: open( / handles.append / except OSError / time.sleep
# Why: each shard that is opened stays open, until the limit of open files is reached; the retry written for a moody file server then tries for ever, without a word.
import os
import tempfile
import time

import numpy as np

SHARDS, ROWS, FEATURES = 600, 512, 20


def write_shards(folder):
    rng = np.random.default_rng(29)
    weights = rng.normal(size=FEATURES)
    for i in range(SHARDS):
        x = rng.normal(size=(ROWS, FEATURES)).astype("float32")
        y = np.tanh(x @ weights / 3) + rng.normal(0, 0.1, ROWS)
        np.concatenate([x, y[:, None]], axis=1).astype("float32").tofile(os.path.join(folder, f"buoy_{i:03d}.bin"))


class ShardReader:
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        self.handles = []

    def open_shard(self, path):
        while True:
            try:
                handle = open(path, "rb")
                break
            except OSError:
                time.sleep(0.2)
        self.handles.append(handle)
        return handle

    def read(self, rng):
        for i in rng.permutation(len(self.paths)):
            handle = self.open_shard(self.paths[i])
            block = np.frombuffer(handle.read(), dtype="float32").reshape(ROWS, FEATURES + 1)
            yield block[:, :-1].astype("float64"), block[:, -1].astype("float64")


class Network:
    def __init__(self, rng, width=192):
        self.a = rng.normal(0, 0.2, (FEATURES, width))
        self.b = rng.normal(0, 0.05, (width, width))
        self.c = rng.normal(0, 0.05, (width, 1))

    def step(self, x, y, rate=0.02):
        h = np.tanh(x @ self.a)
        g = np.tanh(h @ self.b)
        error = (g @ self.c)[:, 0] - y
        back = (error[:, None] @ self.c.T) * (1 - g ** 2)
        deep = (back @ self.b.T) * (1 - h ** 2)
        self.c -= rate * g.T @ error[:, None] / len(y)
        self.b -= rate * h.T @ back / len(y)
        self.a -= rate * x.T @ deep / len(y)
        return float((error ** 2).mean())


def main():
    rng = np.random.default_rng(0)
    folder = tempfile.mkdtemp(prefix="buoys_")
    write_shards(folder)
    reader, network = ShardReader(folder), Network(rng)
    started, step = time.time(), 0
    for epoch in range(1, 101):
        for x, y in reader.read(rng):
            loss = network.step(x, y)
            step += 1
            if step % 10 == 0:
                print(f"epoch {epoch}  step {step}  loss {loss:.4f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
