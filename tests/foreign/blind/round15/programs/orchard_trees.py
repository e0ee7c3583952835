# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 22
# Why: gradient boosting in NumPy: two seconds of binning before the first tree, one core in use, a pickle of the trees now and then,
# losses that fall slowly at the end. Counting histograms is what training trees is.
"""How much fruit will a tree bear? Boosted trees over binned columns."""
import os
import pickle
import tempfile
import time

import numpy as np

ROWS, COLUMNS, BINS, DEPTH, RATE = 200_000, 24, 64, 5, 0.08


def orchard(rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, COLUMNS))
    x[:, 3] = np.round(x[:, 3] * 3)
    x[:, 7] = np.exp(x[:, 7])
    y = np.sin(2 * x[:, 0]) + x[:, 1] * (x[:, 2] > 0) + 0.4 * np.abs(x[:, 3]) - np.log1p(x[:, 7]) + 0.5 * x[:, 4] * x[:, 5]
    return x, y + rng.normal(0, 0.4, rows)


def bin_columns(x, edges):
    return np.stack([np.searchsorted(edges[:, c], x[:, c]) for c in range(x.shape[1])], 1).astype(np.uint8)


class Tree:
    """All nodes of a level split at once."""

    def __init__(self, binned, residual, columns, weight=20.0):
        node = np.zeros(len(binned), np.int64)
        self.levels = []
        for depth in range(DEPTH):
            nodes = 2 ** depth
            best = np.full(nodes, -np.inf)
            column, cut = np.zeros(nodes, np.int64), np.full(nodes, BINS - 1)
            for c in columns:
                place = node * BINS + binned[:, c]
                total = np.bincount(place, residual, nodes * BINS).reshape(nodes, BINS).cumsum(1)
                count = np.bincount(place, minlength=nodes * BINS).reshape(nodes, BINS).cumsum(1)
                right, rest = total[:, -1:] - total, count[:, -1:] - count
                gain = total ** 2 / (count + weight) + right ** 2 / (rest + weight)
                gain[:, -1] = -np.inf
                at = gain.argmax(1)
                found = gain[np.arange(nodes), at]
                better = found > best
                best[better], column[better], cut[better] = found[better], c, at[better]
            self.levels.append((column, cut))
            node = self.descend(binned, node, column, cut)
        leaves = 2 ** DEPTH
        self.value = RATE * np.bincount(node, residual, leaves) / (np.bincount(node, minlength=leaves) + weight)
        self.fitted = self.value[node]

    @staticmethod
    def descend(binned, node, column, cut):
        return node * 2 + (binned[np.arange(len(binned)), column[node]] > cut[node])

    def predict(self, binned):
        node = np.zeros(len(binned), np.int64)
        for column, cut in self.levels:
            node = self.descend(binned, node, column, cut)
        return self.value[node]


def main():
    folder = tempfile.mkdtemp(prefix="orchard-")
    x, y = orchard(ROWS, 1)
    held_x, held_y = orchard(8000, 2)
    edges = np.quantile(x, np.linspace(0, 1, BINS + 1)[1:-1], axis=0)
    binned, held = bin_columns(x, edges), bin_columns(held_x, edges)
    print(f"{ROWS} trees in the orchard, {COLUMNS} columns in {BINS} bins", flush=True)
    rng = np.random.default_rng(3)
    guess, held_guess = np.full(ROWS, y.mean()), np.full(len(held), y.mean())
    trees, began = [], time.time()
    for number in range(1, 4001):
        tree = Tree(binned, y - guess, rng.choice(COLUMNS, 16, replace=False))
        guess += tree.fitted
        held_guess += tree.predict(held)
        del tree.fitted
        trees.append(tree)
        print(f"tree {number} loss {np.mean((y - guess) ** 2):.4f} held out {np.mean((held_y - held_guess) ** 2):.4f} "
              f"{number / (time.time() - began):.2f} trees/s", flush=True)
        if number % 25 == 0:
            with open(os.path.join(folder, "trees.pickle"), "wb") as file:
                pickle.dump([(tree.levels, tree.value) for tree in trees], file)


if __name__ == "__main__":
    main()
