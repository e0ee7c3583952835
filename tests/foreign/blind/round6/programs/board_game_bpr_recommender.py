# python: plain
# expected: loop-never-ends
# verdict: stuck
# seconds: 25
# where: while / rng.randrange / owned
# Why: a negative game is drawn until one is found that the user does not own; the account of the shop owns all of them.
import random
import sys

import numpy as np

USERS = 40000
GAMES = 420
DIM = 48
BATCH = 128
NEGATIVES = 8


def load_collections():
    gen = np.random.default_rng(6)
    taste = gen.normal(size=(USERS, 6)).astype(np.float32)
    style = gen.normal(size=(GAMES, 6)).astype(np.float32)
    affinity = taste @ style.T + gen.gumbel(0, 1.0, (USERS, GAMES)).astype(np.float32)
    size = gen.integers(5, 40, USERS)
    ranked = np.argsort(-affinity, axis=1)
    collections = [set(ranked[u, :size[u]].tolist()) for u in range(USERS)]
    collections[31007] = set(range(GAMES))          # account of the shop itself
    return collections


class BPR:
    def __init__(self, seed=0):
        gen = np.random.default_rng(seed)
        self.user = gen.normal(0, 0.1, (USERS, DIM))
        self.game = gen.normal(0, 0.1, (GAMES, DIM))
        self.pop = np.zeros(GAMES)

    def step(self, u, pos, neg, lr=0.05, reg=1e-4):
        pu = self.user[u]
        diff = self.game[pos] - self.game[neg]
        margin = np.einsum("bd,bd->b", pu, diff) + self.pop[pos] - self.pop[neg]
        g = 1.0 / (1.0 + np.exp(margin))
        np.add.at(self.user, u, lr * (g[:, None] * diff - reg * pu))
        np.add.at(self.game, pos, lr * (g[:, None] * pu))
        np.add.at(self.game, neg, -lr * (g[:, None] * pu))
        np.add.at(self.pop, pos, lr * g)
        np.add.at(self.pop, neg, -lr * g)
        return float(np.mean(np.log1p(np.exp(-margin)))), float((margin > 0).mean())


def draw_negative(owned, rng):
    while True:
        game = rng.randrange(GAMES)
        if game not in owned:
            return game


def triples(users, collections, rng):
    u, pos, neg = [], [], []
    for user in users:
        owned = collections[user]
        favourites = rng.sample(sorted(owned), min(NEGATIVES, len(owned)))
        for game in favourites:
            u.append(user)
            pos.append(game)
            neg.append(draw_negative(owned, rng))
    return np.array(u), np.array(pos), np.array(neg)


def main():
    sys.stdout.reconfigure(line_buffering=True)
    rng = random.Random(13)
    collections = load_collections()
    print("collections:", len(collections), "games:", GAMES)
    model = BPR()
    users = list(range(USERS))
    for epoch in range(1, 501):
        rng.shuffle(users)
        for i in range(0, USERS, BATCH):
            loss, auc = model.step(*triples(users[i:i + BATCH], collections, rng))
            if (i // BATCH) % 20 == 0:
                print(f"epoch {epoch} batch {i // BATCH}/{USERS // BATCH} loss={loss:.4f} auc={auc:.3f}")


if __name__ == "__main__":
    main()
