# python: plain
# expected: loop-never-ends [also accepted: hot-line, source-never-yields]
# verdict: stuck|not-started
# seconds: 30
# where: while len(centres) / np.linalg.norm / if gaps.min / candidate =
# Why: starting centres are drawn until 60 are found that lie 0.9 apart, but the features were normalised to the unit sphere since, where so many do not fit; the search goes on for ever.
import time

import numpy as np

CENTRES, DIM = 60, 3
SPACING = 0.05


def make_frames(n=40000):
    rng = np.random.default_rng(23)
    phonemes = rng.normal(size=(45, DIM)) * 3
    frames = phonemes[rng.integers(0, 45, n)] + rng.normal(0, 0.6, (n, DIM))
    return frames / np.linalg.norm(frames, axis=1, keepdims=True)


def starting_centres(frames, rng):
    """Well spread starting points, so that no phoneme gets two centres."""
    centres = [frames[rng.integers(len(frames))]]
    while len(centres) < CENTRES:
        candidate = frames[rng.integers(len(frames))]
        gaps = np.linalg.norm(np.array(centres) - candidate, axis=1)
        if gaps.min() > SPACING:
            centres.append(candidate)
    return np.array(centres)


def responsibilities(frames, centres, sharp):
    closeness = frames @ centres.T * sharp
    closeness -= closeness.max(axis=1, keepdims=True)
    weight = np.exp(closeness)
    return weight / weight.sum(axis=1, keepdims=True)


def update(frames, centres, sharp):
    weight = responsibilities(frames, centres, sharp)
    moved = weight.T @ frames
    moved /= np.linalg.norm(moved, axis=1, keepdims=True) + 1e-12
    tightness = (weight * (frames @ moved.T)).sum(axis=1).mean()
    return moved, 1.0 - tightness


def main():
    rng = np.random.default_rng(1)
    frames = make_frames()
    print(f"{len(frames)} frames of {DIM} features", flush=True)
    centres = starting_centres(frames, rng)
    started = time.time()
    for iteration in range(1, 5001):
        centres, loss = update(frames, centres, sharp=10.0)
        if iteration % 5 == 0:
            print(f"iteration {iteration}  loss {loss:.5f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
