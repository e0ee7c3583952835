# python: plain
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the hook that keeps the weights runs after every batch and compresses all vectors and their optimizer state each time. The cured one
# keeps them every 400 batches.
"""Vectors for jazz chords: a skip-gram model with negative samples over drawn lead sheets, in NumPy."""
import os
import pathlib
import tempfile
import time

import numpy as np

ROOTS = ["C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "B"]
KINDS = ["", "m", "7", "m7", "maj7", "m7b5", "dim7", "6", "9", "13", "7b9", "7#9", "7#11", "sus4", "aug", "m6", "mM7", "69"]
VOCABULARY = [root + kind for root in ROOTS for kind in KINDS for _ in ("", "/")]
WIDTH, WINDOW, NEGATIVES, BATCH = 192, 3, 8, 512


def write_sheets(bars, rng):
    """Turnarounds: the root moves by fourths mostly, the kind follows the place in the cadence."""
    chords = np.zeros(bars, dtype=np.int64)
    root, place = 0, 0
    kinds = [(3, 8, 15), (2, 9, 10, 12), (4, 7, 17)]
    for i in range(bars):
        if rng.random() < 0.12:
            root, place = int(rng.integers(12)), 0
        kind = kinds[place][int(rng.integers(len(kinds[place])))]
        chords[i] = (root * len(KINDS) + kind) * 2 + int(rng.random() < 0.2)
        root, place = (root + 5) % 12, (place + 1) % 3
    return chords


class Vectors:
    def __init__(self, size, rng):
        self.params = {"inner": rng.uniform(-0.5, 0.5, (size, WIDTH)) / WIDTH, "outer": np.zeros((size, WIDTH))}
        self.squares = {name: np.full_like(value, 1e-3) for name, value in self.params.items()}

    def learn(self, centre, near, others, rate=0.06):
        inner, outer = self.params["inner"], self.params["outer"]
        targets = np.concatenate([near[:, None], others], 1)
        h, t = inner[centre], outer[targets]
        chance = 1 / (1 + np.exp(-np.einsum("bw,bkw->bk", h, t)))
        wanted = np.zeros_like(chance)
        wanted[:, 0] = 1
        error = chance - wanted
        for name, rows, grad in (("inner", centre, np.einsum("bk,bkw->bw", error, t)),
                                 ("outer", targets.ravel(), (error[:, :, None] * h[:, None, :]).reshape(-1, WIDTH))):
            full = np.zeros_like(self.params[name])
            np.add.at(full, rows, grad)
            self.squares[name] += full * full
            self.params[name] -= rate * full / np.sqrt(self.squares[name])
        right = np.where(wanted > 0, chance, 1 - chance)
        return -np.log(right + 1e-9).sum(1).mean()


class KeepWeights:
    """Keeps the newest vectors, so that a run can be taken up where it ended."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "chords.npz"

    def on_batch_end(self, step, model):
        if step % 400:
            return
        fresh = self.path.with_name("fresh.npz")
        np.savez_compressed(fresh, step=step, **model.params, **{f"sq_{k}": v for k, v in model.squares.items()})
        os.replace(fresh, self.path)


class Progress:
    def __init__(self):
        self.began, self.losses = time.time(), []

    def on_batch_end(self, step, model):
        if step % 10 == 0:
            recent = self.losses[-50:]
            self.losses = recent
            print(f"step {step} loss {np.mean(recent):.4f} {step / (time.time() - self.began):.1f} batches/s", flush=True)


def main():
    rng = np.random.default_rng(13)
    chords = write_sheets(120000, rng)
    model = Vectors(len(VOCABULARY), rng)
    progress = Progress()
    hooks = [progress, KeepWeights(tempfile.mkdtemp(prefix="chords-"))]
    step = 0
    for epoch in range(200):
        for rows in np.array_split(rng.permutation(np.arange(WINDOW, len(chords) - WINDOW)), len(chords) // BATCH):
            offset = rng.integers(1, WINDOW + 1, len(rows)) * rng.choice([-1, 1], len(rows))
            others = rng.integers(0, len(VOCABULARY), (len(rows), NEGATIVES))
            progress.losses.append(model.learn(chords[rows], chords[rows + offset], others))
            step += 1
            for hook in hooks:
                hook.on_batch_end(step, model)


if __name__ == "__main__":
    main()
