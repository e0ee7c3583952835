# python: plain
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: looks suspicious because all the time goes to a Python loop over single values; that loop is the training itself (online FTRL on hashed features), as such programs are written without any library.
import math
import random

BUCKETS, FIELDS = 1 << 18, 14
ALPHA, BETA, L1, L2 = 0.1, 1.0, 0.5, 1.0


class FTRL:
    def __init__(self):
        self.z = [0.0] * BUCKETS
        self.n = [0.0] * BUCKETS

    def weight(self, i):
        z = self.z[i]
        if abs(z) <= L1:
            return 0.0
        return -(z - math.copysign(L1, z)) / ((BETA + math.sqrt(self.n[i])) / ALPHA + L2)

    def learn(self, ids, y):
        weights = [self.weight(i) for i in ids]
        score = max(-30.0, min(30.0, sum(weights)))
        p = 1.0 / (1.0 + math.exp(-score))
        g = p - y
        for i, w in zip(ids, weights):
            sigma = (math.sqrt(self.n[i] + g * g) - math.sqrt(self.n[i])) / ALPHA
            self.z[i] += g - sigma * w
            self.n[i] += g * g
        return p


def make_impressions(n, seed):
    rng = random.Random(seed)
    effect = [[rng.gauss(0, 0.6) for _ in range(40)] for _ in range(FIELDS)]
    rows = []
    for _ in range(n):
        values = [min(int(rng.expovariate(0.12)), 39) for _ in range(FIELDS)]
        logit = sum(effect[f][v] for f, v in enumerate(values)) - 1.5
        y = 1 if rng.random() < 1 / (1 + math.exp(-logit)) else 0
        ids = [hash((f, v)) % BUCKETS for f, v in enumerate(values)]
        ids += [hash((f, values[f], values[f + 1])) % BUCKETS for f in range(FIELDS - 1)]
        rows.append((ids, y))
    return rows


def main():
    rows = make_impressions(60000, 130)
    order = random.Random(131)
    model = FTRL()
    seen, loss = 0, 0.0
    for epoch in range(1, 101):
        order.shuffle(rows)
        for ids, y in rows:
            p = model.learn(ids, y)
            loss -= math.log(max(p if y else 1 - p, 1e-9))
            seen += 1
            if seen % 10000 == 0:
                print(f"epoch {epoch} rows {seen} logloss {loss / 10000:.4f}", flush=True)
                loss = 0.0


if __name__ == "__main__":
    main()
