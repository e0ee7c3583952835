# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: the producer stands in put() nearly all the time because its queue is full (the trainer is the slower one, as it should be), a
# thread waits for its next minute, and the figures are written under a file lock that is held for a moment.
"""Which bookings deserve a second look? A network in NumPy, fed by a process of its own."""
import fcntl
import json
import multiprocessing
import os
import tempfile
import threading
import time

import numpy as np

COLUMNS, BATCH = 160, 512


def produce(queue, seed):
    rng = np.random.default_rng(seed)
    taste = np.random.default_rng(0).normal(size=(2, COLUMNS)).astype(np.float32) / 8
    while True:
        x = rng.standard_normal((BATCH, COLUMNS), dtype=np.float32)
        amount = rng.lognormal(0, 1, (BATCH, 1)).astype(np.float32)
        x[:, :1] = np.log1p(amount)
        risk = np.sin(2 * (x * taste[0]).sum(1)) + (x * taste[1]).sum(1)
        queue.put((x, (risk + rng.normal(0, 0.3, BATCH) > 0.6).astype(np.float32)[:, None]))


class Journal:
    """Figures for the others in the office, in a file that several programs write."""

    def __init__(self, path):
        self.path, self.latest, self.over = path, {}, threading.Event()
        threading.Thread(target=self.every_minute, daemon=True).start()

    def every_minute(self):
        while not self.over.wait(60):
            self.write({"alive": time.time(), **self.latest})

    def write(self, figures):
        self.latest = figures
        with open(self.path, "a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(json.dumps(figures) + "\n")


def main():
    context = multiprocessing.get_context("fork")
    queue = context.Queue(maxsize=8)
    context.Process(target=produce, args=(queue, 5), daemon=True).start()
    journal = Journal(os.path.join(tempfile.mkdtemp(prefix="ledger-"), "figures.jsonl"))
    rng = np.random.default_rng(2)
    sizes = [COLUMNS, 640, 640, 1]
    weights = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
    biases = [np.zeros(b, np.float32) for b in sizes[1:]]
    speed = [np.zeros_like(p) for p in weights + biases]
    held_out = queue.get()

    def forward(x):
        layers = [x]
        for w, b in zip(weights[:-1], biases[:-1]):
            layers.append(np.maximum(0, layers[-1] @ w + b))
        return layers, layers[-1] @ weights[-1] + biases[-1]

    began = time.time()
    for step in range(1, 100_001):
        x, y = queue.get()
        layers, out = forward(x)
        loss = float(np.mean(np.logaddexp(0, out) - y * out))
        delta = (1 / (1 + np.exp(-out)) - y) / len(x)
        gradients = [None] * len(speed)
        for i in reversed(range(3)):
            gradients[i], gradients[3 + i] = layers[i].T @ delta, delta.sum(0)
            if i:
                delta = (delta @ weights[i].T) * (layers[i] > 0)
        for p, g, s in zip(weights + biases, gradients, speed):
            s *= 0.9
            s += g
            p -= 0.02 * s
        if step % 10 == 0:
            print(f"step {step} loss {loss:.4f} {step / (time.time() - began):.1f} steps/s", flush=True)
        if step % 100 == 0:
            right = float(((forward(held_out[0])[1] > 0) == (held_out[1] > 0.5)).mean())
            journal.write({"step": step, "loss": loss, "right": right})
            print(f"right on the first batch: {right:.3f}", flush=True)


if __name__ == "__main__":
    main()
