"""Link entries of two census years: logistic regression over hand-made pair features."""
import random
import time

import numpy as np

GIVEN = ["anna", "bertha", "carl", "dora", "emil", "frieda", "georg", "hanna", "ida", "jakob", "klara", "ludwig"]
FAMILY = [a + b for a in ("berg", "stein", "wald", "feld", "bach", "hof") for b in ("er", "mann", "ner", "ow", "inger")]


class Entry:
    def __init__(self, rnd, like=None):
        if like is None:
            self.given, self.family = rnd.choice(GIVEN), rnd.choice(FAMILY)
            self.born = rnd.randrange(1820, 1890)
            self.parish = rnd.randrange(60)
            self.household = [rnd.choice(GIVEN) for _ in range(rnd.randrange(1, 5))]
        else:
            self.given = like.given if rnd.random() < 0.9 else rnd.choice(GIVEN)
            self.family = like.family if rnd.random() < 0.8 else rnd.choice(FAMILY)
            self.born = like.born + rnd.choice((-1, 0, 0, 0, 1, 2))
            self.parish = like.parish if rnd.random() < 0.7 else rnd.randrange(60)
            self.household = [h for h in like.household if rnd.random() < 0.8]


def features(a, b):
    shared = len(set(a.household) & set(b.household))
    gap = abs(a.born - b.born)
    return (
        1.0, a.given == b.given, a.family == b.family, a.family[:3] == b.family[:3], a.parish == b.parish,
        min(gap, 20) / 20, gap <= 2, shared / 4, len(a.household) / 4, len(b.household) / 4,
        (a.given == b.given) and (a.family == b.family), (gap <= 2) and a.parish == b.parish,
    )


def draw_pairs(old, new, n, rnd):
    rows, labels = [], []
    for _ in range(n):
        i = rnd.randrange(len(old))
        same = rnd.random() < 0.5
        j = i if same else rnd.randrange(len(new))
        rows.append(features(old[i], new[j]))
        labels.append(float(i == j))
    return np.array(rows, dtype=np.float64), np.array(labels)


def main():
    rnd = random.Random(1)
    began = time.time()
    old = [Entry(rnd) for _ in range(120_000)]
    new = [Entry(rnd, like=e) for e in old]
    print(f"{len(old) + len(new)} entries in {time.time() - began:.1f} s", flush=True)

    w = np.zeros(12)
    momentum = np.zeros_like(w)
    held_x, held_y = draw_pairs(old, new, 4000, random.Random(2))
    began = time.time()
    for step in range(1, 1_000_001):
        x, y = draw_pairs(old, new, 2048, rnd)
        p = 1 / (1 + np.exp(-(x @ w)))
        loss = -np.mean(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9))
        momentum = 0.9 * momentum + x.T @ (p - y) / len(y)
        w -= 0.1 * momentum
        del x, y, p
        if step % 10 == 0:
            right = np.mean(((held_x @ w) > 0) == (held_y > 0.5))
            print(f"step {step} loss {loss:.4f} held-out {right:.4f} {step / (time.time() - began):.1f} steps/s", flush=True)


if __name__ == "__main__":
    main()
