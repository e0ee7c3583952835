# python: loops
# expected: worker-deadlock
# verdict: not-started|stuck
# seconds: 30
# where: codebook.predict
# Why: the k-means was fitted in the main process, with OpenMP threads; the forked workers of the loader have inherited
# its pool of threads, but not the threads, and wait for them for ever in predict(). Spawned workers start afresh.
"""Motifs in woven tapestries: patches become visual words, a small network reads their histogram."""
import time

import numpy as np
import torch
from sklearn.cluster import KMeans
from torch import nn
from torch.utils.data import DataLoader, Dataset

MOTIFS = ["diamond", "stripe", "check", "wave", "plain"]
SIDE, PATCH, STRIDE = 96, 8, 3
WORDS = 96


def weave(rng, motif):
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    period = rng.uniform(9, 16)
    phase = rng.uniform(0, period, 2)
    u, v = (x + phase[0]) / period, (y + phase[1]) / period
    pattern = {
        "diamond": np.abs((u % 1) - 0.5) + np.abs((v % 1) - 0.5) < 0.45,
        "stripe": (u + 0.3 * v) % 1 < 0.5,
        "check": (u % 1 < 0.5) ^ (v % 1 < 0.5),
        "wave": (v + 0.3 * np.sin(2 * np.pi * u)) % 1 < 0.5,
        "plain": np.zeros((SIDE, SIDE), bool),
    }[motif]
    threads = 0.1 * np.sin(np.pi * x) + 0.1 * np.sin(np.pi * y + 1)
    return (pattern + threads + rng.normal(0, 0.35, (SIDE, SIDE))).astype(np.float32)


def cut(picture):
    windows = np.lib.stride_tricks.sliding_window_view(picture, (PATCH, PATCH))[::STRIDE, ::STRIDE]
    patches = windows.reshape(-1, PATCH * PATCH)
    return np.ascontiguousarray(patches - patches.mean(1, keepdims=True), dtype=np.float32)


class Tapestries(Dataset):
    def __init__(self, count, codebook, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, len(MOTIFS), count)
        self.pictures = [weave(rng, MOTIFS[label]) for label in self.labels]
        self.codebook = codebook

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        words = self.codebook.predict(cut(self.pictures[i]))
        histogram = np.bincount(words, minlength=WORDS) / len(words)
        return torch.from_numpy(np.sqrt(histogram)).float(), int(self.labels[i])


def fit_codebook(seed=0):
    rng = np.random.default_rng(seed)
    sample = np.concatenate([cut(weave(rng, motif))[::4] for motif in MOTIFS * 8])
    codebook = KMeans(n_clusters=WORDS, n_init=1, max_iter=15, random_state=seed).fit(sample)
    print(f"codebook of {WORDS} words from {len(sample)} patches, inertia {codebook.inertia_:.0f}", flush=True)
    return codebook


def main():
    torch.manual_seed(0)
    codebook = fit_codebook()
    tapestries = Tapestries(4000, codebook, seed=1)
    loader = DataLoader(
        tapestries, batch_size=32, shuffle=True, num_workers=2, persistent_workers=True,
        multiprocessing_context="spawn")
    reader = nn.Sequential(
        nn.Linear(WORDS, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, len(MOTIFS))
    )
    optimizer = torch.optim.Adam(reader.parameters(), lr=5e-4)
    print(f"{len(tapestries)} tapestries, {sum(p.numel() for p in reader.parameters())} weights", flush=True)

    step, began = 0, time.time()
    for epoch in range(200):
        right = seen = 0
        for histograms, labels in loader:
            logits = reader(histograms)
            loss = nn.functional.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            right += (logits.argmax(1) == labels).sum().item()
            seen += len(labels)
            step += 1
            if step % 10 == 0:
                print(
                    f"epoch {epoch} step {step} loss {loss.item():.4f} accuracy {right / seen:.3f}"
                    f" {time.time() - began:.0f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
