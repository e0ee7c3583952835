# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# how: attach
# Why: a plain Python loop with partial_fit, data that drift so that the loss wobbles, and a test every now and then; nearly all of
# the time is in scikit-learn's matrix products.
"""Electricity demand of the next hour, learned from a stream of days (scikit-learn)."""
import logging
import time

import numpy as np
from sklearn.metrics import mean_absolute_error
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")


class DemandStream:
    def __init__(self, features=96, seed=2):
        self.rng = np.random.default_rng(seed)
        self.a = self.rng.normal(0, 1, (features, 8)) / np.sqrt(features)
        self.b = self.rng.normal(0, 1, 8)
        self.features = features

    def day(self, n):
        self.a += self.rng.normal(0, 2e-4, self.a.shape)
        x = self.rng.standard_normal((n, self.features))
        y = np.tanh(x @ self.a) @ self.b + 0.1 * self.rng.standard_normal(n)
        return 40 + 12 * x, y


def main(days=4000, rows=1500):
    stream = DemandStream()
    scaler = StandardScaler().fit(stream.day(4000)[0])
    model = MLPRegressor(hidden_layer_sizes=(384, 384), batch_size=250, learning_rate_init=5e-4, alpha=1e-4, random_state=0)
    began = time.time()
    for day in range(1, days + 1):
        x, y = stream.day(rows)
        model.partial_fit(scaler.transform(x), y)
        if day % 5 == 0:
            logging.info("day %d  loss %.4f  %.2f days/s", day, model.loss_, day / (time.time() - began))
        if day % 50 == 0:
            x, y = stream.day(2000)
            logging.info("test: mean absolute error %.3f", mean_absolute_error(y, model.predict(scaler.transform(x))))


if __name__ == "__main__":
    main()
