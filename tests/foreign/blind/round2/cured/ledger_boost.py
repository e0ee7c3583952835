# python: plain
# expected: garbage-collection [also accepted: hot-line]
# verdict: slow
# env: OMP_WAIT_POLICY=passive
# seconds: 30
# where: gc.collect()
# Why: a full collection is forced after every boosting round "to keep memory down", while hundreds of thousands of small objects that never die have to be looked through each time.
import gc
import numpy as np

COLUMNS, BINS = 10, 32
rng = np.random.default_rng(71)


class Entry:
    __slots__ = ("account", "amount", "tags", "meta")

    def __init__(self, account, amount, tags, meta):
        self.account, self.amount, self.tags, self.meta = account, amount, tags, meta


def make_ledger(n=80000):
    entries = []
    amounts = rng.lognormal(4, 1, n)
    accounts = rng.integers(0, 900, n)
    days = rng.integers(0, 365, n)
    for a, m, d in zip(accounts.tolist(), amounts.tolist(), days.tolist()):
        entries.append(Entry(a, m, [a % 7, d % 5], {"day": d, "source": [a % 3]}))
    return entries


def features(entries, take):
    rows = [(e.account % 50, e.amount, e.tags[0], e.tags[1], e.meta["day"], e.meta["source"][0])
            for e in (entries[i] for i in take)]
    x = np.array(rows)
    extra = rng.normal(size=(len(rows), COLUMNS - x.shape[1]))
    return np.concatenate([x, extra], 1)


def quantise(x):
    edges = [np.quantile(c, np.linspace(0, 1, BINS + 1)[1:-1]) for c in x.T]
    return np.stack([np.searchsorted(e, c) for e, c in zip(edges, x.T)], 1)


def best_split(codes, grad):
    best = (0.0, 0, 0, 0.0, 0.0)
    for j in range(codes.shape[1]):
        total = np.bincount(codes[:, j], weights=grad, minlength=BINS)
        count = np.bincount(codes[:, j], minlength=BINS)
        left, n_left = np.cumsum(total)[:-1], np.cumsum(count)[:-1] + 1e-9
        right, n_right = total.sum() - left, count.sum() - n_left + 1e-9
        gain = left ** 2 / n_left + right ** 2 / n_right
        k = int(gain.argmax())
        if gain[k] > best[0]:
            best = (gain[k], j, k, left[k] / n_left[k], right[k] / n_right[k])
    return best[1:]


def main():
    entries = make_ledger()
    take = rng.integers(0, len(entries), 4000)
    x = features(entries, take)
    y = np.log(x[:, 1]) * (x[:, 2] > 2) + 0.01 * x[:, 4] + 0.3 * rng.normal(size=len(x))
    codes = quantise(x)
    pred = np.full(len(y), y.mean())
    stumps = []
    for step in range(1, 100001):
        j, cut, lo, hi = best_split(codes, y - pred)
        pred += 0.05 * np.where(codes[:, j] <= cut, lo, hi)
        stumps = stumps[-500:] + [(j, cut, lo, hi)]
        if step % 10 == 0:
            print(f"step {step} mse {np.mean((y - pred) ** 2):.5f}", flush=True)


if __name__ == "__main__":
    main()
