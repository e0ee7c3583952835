# python: plain
# expected: loop-never-ends [also accepted: source-never-yields]
# verdict: stuck
# seconds: 30
# where: while song in / song = random.randrange / songs_not_liked
# Why: a negative song is drawn until the listener does not like it; one listener likes all of them, and when his turn comes the draw never ends.
import random

import numpy as np

SONGS = 900
LISTENERS = 90000
WIDTH = 32
HIDDEN = 64
BATCH = 64


def listening_history(seed):
    rng = np.random.default_rng(seed)
    activity = np.minimum((rng.pareto(2.0, LISTENERS) * 3 + 2).astype(int), SONGS)
    rank = rng.permutation(SONGS)
    history = []
    for plays in activity:
        if plays < 30:
            picks = (SONGS * rng.random(plays) ** 2).astype(int)
            history.append(set(rank[picks].tolist()))
        else:
            history.append(set(rank[:plays].tolist()))
    return history


def songs_not_liked(liked):
    song = random.randrange(SONGS)
    while song in liked:
        song = random.randrange(SONGS)
    return song


class Ranker:
    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.listener = rng.normal(0, 0.1, (LISTENERS, WIDTH)).astype(np.float32)
        self.song = rng.normal(0, 0.1, (SONGS, WIDTH)).astype(np.float32)
        self.w = rng.normal(0, (2 / WIDTH) ** 0.5, (2 * WIDTH, HIDDEN)).astype(np.float32)
        self.u = rng.normal(0, (1 / HIDDEN) ** 0.5, (HIDDEN, HIDDEN)).astype(np.float32)
        self.v = rng.normal(0, (1 / HIDDEN) ** 0.5, HIDDEN).astype(np.float32)

    def forward(self, who, what):
        x = np.concatenate([self.listener[who], self.song[what]], axis=1)
        h = np.maximum(x @ self.w, 0)
        g = np.maximum(h @ self.u, 0)
        return x, h, g, g @ self.v

    def backward(self, who, what, saved, slope, rate):
        x, h, g, _ = saved
        dg = (slope[:, None] * self.v) * (g > 0)
        dh = (dg @ self.u.T) * (h > 0)
        dx = dh @ self.w.T
        self.v -= rate * g.T @ slope
        self.u -= rate * h.T @ dg
        self.w -= rate * x.T @ dh
        self.listener[who] -= rate * dx[:, :WIDTH]
        np.add.at(self.song, what, -rate * dx[:, WIDTH:])

    def step(self, who, good, bad, rate=0.01):
        up, down = self.forward(who, good), self.forward(who, bad)
        margin = up[3] - down[3]
        slope = -1 / (1 + np.exp(margin))
        self.backward(who, good, up, slope, rate)
        self.backward(who, bad, down, -slope, rate)
        return float(np.log1p(np.exp(-margin)).mean())


history = listening_history(14)
favourites = [tuple(liked) for liked in history]
everyone = np.array([w for w in range(LISTENERS) if len(history[w]) < SONGS])
ranker = Ranker()
random.seed(5)
shuffler = np.random.default_rng(6)
step = 0
for epoch in range(1000):
    shuffler.shuffle(everyone)
    for start in range(0, len(everyone) - BATCH, BATCH):
        who = everyone[start:start + BATCH]
        good = np.array([random.choice(favourites[w]) for w in who])
        bad = np.array([songs_not_liked(history[w]) for w in who])
        loss = ranker.step(who, good, bad)
        step += 1
        if step % 50 == 0:
            print(f"epoch {epoch} step {step} bpr loss {loss:.4f}", flush=True)
