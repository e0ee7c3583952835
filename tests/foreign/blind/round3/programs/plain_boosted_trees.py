# python: plain
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: a plain loop without a framework, one busy core and one idle: boosting is one tree after the other, and numpy's histogram is one thread.
import numpy as np

rng = np.random.default_rng(10)
ROWS, FEATURES, BINS, DEPTH = 150000, 16, 64, 5
raw = rng.standard_normal((ROWS, FEATURES))
y = (np.sin(raw[:, 0] * 2) + raw[:, 1] * raw[:, 2] + np.abs(raw[:, 3]) + 0.2 * rng.standard_normal(ROWS))
edges = np.quantile(raw, np.linspace(0, 1, BINS + 1)[1:-1], axis=0)
binned = np.stack([np.searchsorted(edges[:, j], raw[:, j]) for j in range(FEATURES)])


def grow(grad):
    """One tree, level by level; returns its splits and the leaf of each row."""
    node = np.zeros(ROWS, np.int64)
    splits = []
    for level in range(DEPTH):
        width = 2 ** level
        best_gain = np.full(width, -np.inf)
        best_feature = np.zeros(width, int)
        best_bin = np.zeros(width, int)
        for j in range(FEATURES):
            key = node * BINS + binned[j]
            total = np.bincount(key, weights=grad, minlength=width * BINS).reshape(width, BINS).cumsum(axis=1)
            count = np.bincount(key, minlength=width * BINS).reshape(width, BINS).cumsum(axis=1)
            left, nl = total[:, :-1], count[:, :-1]
            right, nr = total[:, -1:] - left, count[:, -1:] - nl
            gain = left ** 2 / (nl + 1.0) + right ** 2 / (nr + 1.0)
            at = gain.argmax(axis=1)
            value = gain[np.arange(width), at]
            better = value > best_gain
            best_gain[better] = value[better]
            best_feature[better] = j
            best_bin[better] = at[better]
        splits.append((best_feature, best_bin))
        go_right = binned[best_feature[node], np.arange(ROWS)] > best_bin[node]
        node = 2 * node + go_right
    return splits, node


prediction = np.full(ROWS, y.mean())
trees = []
for rounds in range(1, 5001):
    grad = y - prediction
    splits, leaf = grow(grad)
    sums = np.bincount(leaf, weights=grad, minlength=2 ** DEPTH)
    counts = np.bincount(leaf, minlength=2 ** DEPTH)
    values = 0.1 * sums / (counts + 1.0)
    prediction += values[leaf]
    trees.append((splits, values))
    if rounds % 2 == 0:
        print(f"round {rounds} train mse {np.mean((y - prediction) ** 2):.5f}", flush=True)
