# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the trees of a round are fitted in two worker processes and the main one mostly waits for them, which is how it is
# meant; the held-out error falls, unevenly.
"""How long people wait at the counter: boosting with small committees of trees, each committee fitted side by side."""
import tempfile
import time

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import mean_absolute_error, mean_squared_error

RATE, ROWS = 0.06, 9000


def draw_visits(count, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, 18)).astype(np.float32)
    x[:, 0] = random.uniform(8, 18, count)
    x[:, 1] = random.integers(0, 6, count)
    rush = np.exp(-((x[:, 0] - 12) ** 2) / 3) + 0.7 * np.exp(-((x[:, 0] - 17) ** 2))
    wait = 4 + 9 * rush * (1 + 0.2 * x[:, 1]) + 2 * x[:, 2] * x[:, 3] + np.abs(x[:, 4]) * x[:, 5] + np.sin(3 * x[:, 6])
    return x, wait + random.gamma(1.5, 1.2, count)


def committee(x, residual, seed, new):
    """Fits one committee on a part of the visits and tells its opinion about all of them and of the new ones."""
    random = np.random.default_rng(seed)
    rows = random.choice(len(x), ROWS, replace=False)
    trees = ExtraTreesRegressor(30, max_depth=9, min_samples_leaf=5, max_features=0.6, n_jobs=1, random_state=seed)
    trees.fit(x[rows], residual[rows])
    return trees.predict(x), trees.predict(new)


def main():
    x, wait = draw_visits(16_000, 1)
    new, truth = draw_visits(4000, 2)
    opinion, outlook = np.full(len(x), wait.mean()), np.full(len(new), wait.mean())
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, Parallel(n_jobs=2, temp_folder=folder) as side_by_side:
        for number in range(1, 5001):
            residual = wait - opinion
            told = side_by_side(delayed(committee)(x, residual, number * 10 + each, new) for each in range(2))
            opinion += RATE * np.mean([each[0] for each in told], 0)
            outlook += RATE * np.mean([each[1] for each in told], 0)
            print(f"round {number} loss {mean_squared_error(wait, opinion):.4f} held out "
                  f"{mean_absolute_error(truth, outlook):.3f} min after {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
