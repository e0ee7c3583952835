# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: a GRU written out in NumPy, a tenth of a second a step, all of it products of matrices; a noisy loss and a checkpoint now and then.
import logging
import os
import tempfile

import numpy as np

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S")
WORDS = ("my dearest friend i write to you from the coast where rain has not ceased since sunday and our horses "
         "are weary yet the harvest was good and your sister sends her love with this small parcel of tea").split()
ALPHABET = " " + "".join(sorted(set("".join(WORDS))))
V, H, T, B = len(ALPHABET), 320, 20, 64


def correspondence(length, rng):
    text = " ".join(WORDS[k] for k in rng.integers(0, len(WORDS), length))
    lookup = {c: i for i, c in enumerate(ALPHABET)}
    return np.array([lookup[c] for c in text])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Writer:
    def __init__(self, rng):
        scale = lambda a, b: (rng.standard_normal((a, b)) / np.sqrt(a)).astype(np.float32)
        self.p = {"gx": scale(V, 2 * H), "gh": scale(H, 2 * H), "cx": scale(V, H), "ch": scale(H, H), "out": scale(H, V)}
        self.m = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.s = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.steps = 0

    def loss(self, x, y):
        p, h, tape, total = self.p, np.zeros((B, H), np.float32), [], 0.0
        eye = np.eye(V, dtype=np.float32)
        for t in range(T):
            one = eye[x[:, t]]
            gates = sigmoid(one @ p["gx"] + h @ p["gh"])
            r, z = gates[:, :H], gates[:, H:]
            c = np.tanh(one @ p["cx"] + (r * h) @ p["ch"])
            new = z * h + (1 - z) * c
            logits = new @ p["out"]
            logits -= logits.max(axis=1, keepdims=True)
            q = np.exp(logits)
            q /= q.sum(axis=1, keepdims=True)
            total -= np.log(q[np.arange(B), y[:, t]] + 1e-9).mean()
            tape.append((one, h, r, z, c, new, q - eye[y[:, t]]))
            h = new
        g, dh = {k: np.zeros_like(v) for k, v in p.items()}, np.zeros((B, H), np.float32)
        for one, h, r, z, c, new, d in reversed(tape):
            d = d / (B * T)
            g["out"] += new.T @ d
            dh = dh + d @ p["out"].T
            dc = dh * (1 - z) * (1 - c * c)
            drh = dc @ p["ch"].T
            g["cx"] += one.T @ dc
            g["ch"] += (r * h).T @ dc
            dg = np.concatenate([drh * h * r * (1 - r), dh * (h - c) * z * (1 - z)], axis=1)
            g["gx"] += one.T @ dg
            g["gh"] += h.T @ dg
            dh = dh * z + drh * r + dg @ p["gh"].T
        return total / T, g

    def adam(self, g, rate):
        self.steps += 1
        correction = np.sqrt(1 - 0.99 ** self.steps) / (1 - 0.9 ** self.steps)
        for k in self.p:
            self.m[k] += 0.1 * (g[k] - self.m[k])
            self.s[k] += 0.01 * (g[k] ** 2 - self.s[k])
            self.p[k] -= np.float32(rate * correction) * self.m[k] / (np.sqrt(self.s[k]) + 1e-8)


rng = np.random.default_rng(18)
letters, writer = correspondence(60000, rng), Writer(rng)
folder = tempfile.mkdtemp(prefix="letters_")
while writer.steps < 20000:
    starts = rng.integers(0, len(letters) - T - 1, B)
    span = letters[starts[:, None] + np.arange(T + 1)]
    loss, grads = writer.loss(span[:, :-1], span[:, 1:])
    writer.adam(grads, 1e-3)
    if writer.steps % 5 == 0:
        logging.info("step %d  bits per letter %.3f", writer.steps, loss / np.log(2))
    if writer.steps % 100 == 0:
        np.savez(os.path.join(folder, "writer.npz"), **writer.p)
