# python: plain
# expected: garbage-collection
# verdict: slow
# seconds: 30
# where: gc.collect()
# Why: the graph is held as hundreds of thousands of Python objects, and every batch ends with a full collection that
# looks through all of them and finds nothing.
"""Classify patents by their text vector and by those of the patents they cite (a sampled graph network in NumPy)."""
import gc
import random
import time

import numpy as np

CLASSES = 20
WORDS = 96


class Patent:
    def __init__(self, number, field_of_use):
        self.number = number
        self.field_of_use = field_of_use
        self.cites = []
        self.notes = {"year": 1970 + number % 50, "cited_by": []}


class Office:
    """All patents with their citations; most citations stay within the same field."""

    def __init__(self, count, seed=13):
        rng = np.random.default_rng(seed)
        fields = rng.integers(0, CLASSES, count)
        centres = rng.normal(0, 0.35, (CLASSES, WORDS))
        self.vectors = (centres[fields] + rng.normal(0, 1.6, (count, WORDS))).astype(np.float32)
        self.patents = [Patent(i, int(f)) for i, f in enumerate(fields)]
        of_field = [np.flatnonzero(fields == c) for c in range(CLASSES)]
        for c in range(CLASSES):
            same = rng.choice(of_field[c], (len(of_field[c]), 6)).tolist()
            other = rng.integers(0, count, (len(of_field[c]), 2)).tolist()
            for number, near, far in zip(of_field[c].tolist(), same, other):
                patent = self.patents[number]
                patent.cites = [self.patents[k] for k in near + far]
                for cited in patent.cites:
                    cited.notes["cited_by"].append(patent)


class GraphNet:
    def __init__(self, hidden=512, seed=1):
        rng = np.random.default_rng(seed)
        shapes = [(2 * WORDS, hidden), (hidden, hidden), (hidden, CLASSES)]
        self.weights = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in shapes]
        self.biases = [np.zeros(b, np.float32) for _, b in shapes]
        self.speed = [np.zeros_like(p) for p in self.weights + self.biases]

    def forward(self, x):
        kept = [x]
        for layer in range(3):
            x = x @ self.weights[layer] + self.biases[layer]
            if layer < 2:
                x = np.maximum(x, 0)
            kept.append(x)
        return kept

    def train(self, x, y, lr):
        kept = self.forward(x)
        shifted = kept[-1] - kept[-1].max(1, keepdims=True)
        p = np.exp(shifted)
        p /= p.sum(1, keepdims=True)
        rows = np.arange(len(y))
        loss = -np.log(p[rows, y] + 1e-9).mean()
        d = p
        d[rows, y] -= 1
        d /= len(y)
        grads_w, grads_b = [None] * 3, [None] * 3
        for layer in (2, 1, 0):
            grads_w[layer] = kept[layer].T @ d
            grads_b[layer] = d.sum(0)
            if layer:
                d = d @ self.weights[layer].T * (kept[layer] > 0)
        for i, (value, grad) in enumerate(zip(self.weights + self.biases, grads_w + grads_b)):
            self.speed[i] *= 0.9
            self.speed[i] += grad
            value -= lr * self.speed[i]
        return float(loss), float((kept[-1].argmax(1) == y).mean())


def sample(office, batch, fan_out=4):
    chosen = random.sample(office.patents, batch)
    own = [patent.number for patent in chosen]
    near = [[cited.number for cited in random.choices(patent.cites, k=fan_out)] for patent in chosen]
    x = np.concatenate([office.vectors[own], office.vectors[near].mean(1)], axis=1)
    return x, np.array([patent.field_of_use for patent in chosen])


def main():
    random.seed(4)
    office = Office(120_000)
    net = GraphNet()
    began = time.time()
    average = None
    for batch in range(1, 60_001):
        x, y = sample(office, 512)
        loss, accuracy = net.train(x, y, lr=0.02)
        average = loss if average is None else 0.95 * average + 0.05 * loss
        del x, y
        gc.collect()
        if batch % 5 == 0:
            print(f"batch {batch:5d} loss {average:.4f} accuracy {accuracy:.3f} {time.time() - began:.1f}s", flush=True)


if __name__ == "__main__":
    main()
