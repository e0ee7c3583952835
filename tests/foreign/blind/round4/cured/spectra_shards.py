import os
import tempfile

import numpy as np

SHARDS, ROWS, BANDS = 1500, 20, 96


def write_shards(folder, seed=0):
    rng = np.random.default_rng(seed)
    bands = np.arange(BANDS)
    for k in range(SHARDS):
        labels = rng.integers(0, 4, ROWS)
        peaks = 15 + 20 * labels[:, None]
        spectra = np.exp(-((bands - peaks) ** 2) / 60) + 0.2 * rng.standard_normal((ROWS, BANDS))
        table = np.concatenate([spectra, labels[:, None]], axis=1).astype(np.float32)
        np.save(os.path.join(folder, f"shard_{k:05d}.npy"), table)


class SpectraShards:
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, f) for f in os.listdir(folder))
        self.open_shards = {}

    def shard(self, k):
        return np.load(self.paths[k], mmap_mode="r")

    def batches(self, rng):
        while True:
            for k in rng.permutation(len(self.paths)):
                table = self.shard(k)
                yield np.array(table[:, :BANDS]), table[:, BANDS].astype(int)


class Net:
    def __init__(self, rng, width=256):
        self.w = [rng.standard_normal(s) / np.sqrt(s[0])
                  for s in ((BANDS, width), (width, width), (width, width), (width, 4))]

    def step(self, x, labels, lr=0.02):
        outputs = [x]
        for w in self.w[:-1]:
            outputs.append(np.maximum(outputs[-1] @ w, 0))
        logits = outputs[-1] @ self.w[-1]
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        rows = np.arange(len(labels))
        loss = -np.log(p[rows, labels] + 1e-9).mean()
        p[rows, labels] -= 1
        delta = p / len(labels)
        for i in reversed(range(len(self.w))):
            grad = outputs[i].T @ delta
            if i:
                delta = (delta @ self.w[i].T) * (outputs[i] > 0)
            self.w[i] -= lr * grad
        return loss


def main():
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        write_shards(folder)
        data, net = SpectraShards(folder), Net(rng)
        for step, (x, labels) in enumerate(data.batches(rng)):
            for crop in range(3):
                noisy = x + 0.05 * rng.standard_normal(x.shape)
                loss = net.step(noisy, labels)
            if step % 25 == 0:
                print(f"step {step} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
