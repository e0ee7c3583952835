# python: plain
# expected: garbage-collection [also accepted: hot-line]
# verdict: slow
# seconds: 25
# where: gc.collect()
# Why: a full collection after every step walks the million small objects of the tune archive, again and again, and frees nothing.
import gc
import random
import time

import numpy as np

NOTES = 64
CONTEXT = 6
EMBED = 24
HIDDEN = 192
BATCH = 256


def archive(tunes=14000, seed=2):
    """Every tune is a dict with its bars; every bar a list of (pitch, length) pairs."""
    rnd = random.Random(seed)
    leap = [[(n + d) % NOTES for d in (-2, -1, 0, 1, 2, 5, 7)] for n in range(NOTES)]
    out = []
    for number in range(tunes):
        note, bars = rnd.randrange(NOTES), []
        for _ in range(8):
            bar = []
            for _ in range(6):
                note = leap[note][min(int(rnd.expovariate(0.6)), 6)]
                bar.append([note, rnd.choice((1, 2, 4))])
            bars.append(bar)
        out.append({"id": number, "key": rnd.choice("CDFGA"), "bars": bars, "tags": {"village": str(number % 97)}})
    return out


class Batches:
    def __init__(self, tunes, seed=0):
        self.tunes = tunes
        self.rnd = random.Random(seed)

    def draw(self):
        x = np.empty((BATCH, CONTEXT), dtype=np.int64)
        y = np.empty(BATCH, dtype=np.int64)
        for row in range(BATCH):
            tune = self.tunes[self.rnd.randrange(len(self.tunes))]
            first = self.rnd.randrange(len(tune["bars"]) - 1)
            pitches = [n for n, _ in tune["bars"][first]] + [tune["bars"][first + 1][0][0]]
            x[row] = pitches[:CONTEXT]
            y[row] = pitches[CONTEXT]
        return x, y


class NextNote:
    def __init__(self):
        rng = np.random.default_rng(7)
        self.emb = rng.normal(size=(NOTES, EMBED)).astype(np.float32) * 0.3
        self.w1 = (rng.normal(size=(CONTEXT * EMBED, HIDDEN)) / np.sqrt(CONTEXT * EMBED)).astype(np.float32)
        self.b1 = np.zeros(HIDDEN, np.float32)
        self.w2 = (rng.normal(size=(HIDDEN, NOTES)) / np.sqrt(HIDDEN)).astype(np.float32)
        self.b2 = np.zeros(NOTES, np.float32)

    def train(self, x, y, lr):
        e = self.emb[x].reshape(len(x), -1)
        h = np.maximum(e @ self.w1 + self.b1, 0)
        z = h @ self.w2 + self.b2
        z -= z.max(1, keepdims=True)
        p = np.exp(z)
        p /= p.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
        d = p
        d[np.arange(len(y)), y] -= 1
        d /= len(y)
        dh = (d @ self.w2.T) * (h > 0)
        de = (dh @ self.w1.T).reshape(len(x), CONTEXT, EMBED)
        self.w2 -= lr * h.T @ d
        self.b2 -= lr * d.sum(0)
        self.w1 -= lr * e.T @ dh
        self.b1 -= lr * dh.sum(0)
        np.subtract.at(self.emb, x, lr * de)
        return float(loss)


def main():
    tunes = archive()
    print(f"{len(tunes)} tunes", flush=True)
    batches, model = Batches(tunes), NextNote()
    began, mean = time.time(), None
    for step in range(1, 200001):
        x, y = batches.draw()
        loss = model.train(x, y, lr=0.3)
        mean = loss if mean is None else 0.98 * mean + 0.02 * loss
        del x, y
        gc.collect()
        if step % 10 == 0:
            print(f"step {step} loss {mean:.4f} elapsed {time.time() - began:.1f}", flush=True)


if __name__ == "__main__":
    main()
