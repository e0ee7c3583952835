# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 40
# Why: A PyDataset with one worker, but __getitem__ only slices an array (a ms); the recurrent model is the work. verbose=2 prints a
# line every few seconds only, with a noisy loss.
import math
import sys

import keras
import numpy as np


class HourlyWindows(keras.utils.PyDataset):
    """Windows of two days over the counts of many junctions, drawn at random."""

    def __init__(self, counts, batch_size, steps, seed=0):
        super().__init__()
        self.views = np.lib.stride_tricks.sliding_window_view(counts, 49, axis=1)
        self.batch_size, self.steps = batch_size, steps
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.steps

    def __getitem__(self, _):
        junction = self.rng.integers(0, self.views.shape[0], self.batch_size)
        start = self.rng.integers(0, self.views.shape[1], self.batch_size)
        window = self.views[junction, start]
        return window[:, :-1, None], window[:, -1:]


def simulate(junctions=120, days=200):
    rng = np.random.default_rng(10)
    hour = np.arange(days * 24)
    rush = np.exp(-((hour % 24 - 8) / 2.0) ** 2) + 1.2 * np.exp(-((hour % 24 - 17) / 2.5) ** 2)
    week = np.where(hour // 24 % 7 < 5, 1.0, 0.5)
    scale = rng.lognormal(4, 0.6, (junctions, 1))
    counts = rng.poisson(scale * (0.15 + rush * week))
    return (np.log1p(counts) / 5.0).astype("float32")


def build(units=160):
    inputs = keras.Input((48, 1))
    x = keras.layers.LSTM(units, return_sequences=True)(inputs)
    x = keras.layers.LSTM(units)(x)
    x = keras.layers.Dropout(0.1)(x)
    return keras.Model(inputs, keras.layers.Dense(1)(x))


def main(argv):
    epochs = int(argv[1]) if len(argv) > 1 else 400
    data = HourlyWindows(simulate(), batch_size=96, steps=20)
    model = build()
    schedule = keras.callbacks.LearningRateScheduler(lambda e, lr: 1e-3 * math.exp(-e / 200))
    model.compile(optimizer=keras.optimizers.RMSprop(1e-3), loss="mse")
    model.fit(data, epochs=epochs, verbose=2, callbacks=[schedule])


if __name__ == "__main__":
    main(sys.argv)
