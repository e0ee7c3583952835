# python: tensorflow
# truth: step=computes, first=compiles, check=validates, log=logs, fetch=waits for data
# Why: fit() with validation after each short epoch, and a callback of the user's that writes every weight's figures.
import csv
import os
import statistics
import tempfile
import time

import keras
import numpy as np

import stopwatch


class Timers(keras.callbacks.Callback):
    """Validation has no moment of its own at which it begins: it is all that comes behind the last step of an epoch."""

    def on_train_begin(self, logs=None):
        self.took = []

    def on_epoch_begin(self, epoch, logs=None):
        if epoch > 0:
            stopwatch.enter("fetch")

    def on_train_batch_begin(self, batch, logs=None):
        if not self.took:
            stopwatch.started()
        elif batch == 0:
            stopwatch.leave()
        self.began = time.perf_counter()
        stopwatch.enter("step")

    def on_train_batch_end(self, batch, logs=None):
        stopwatch.leave()
        self.took.append(time.perf_counter() - self.began)
        if len(self.took) == 5:
            stopwatch.give(self.took[0] - statistics.median(self.took), "step", "first")
        if batch == self.params["steps"] - 1:
            stopwatch.enter("check")

    def on_epoch_end(self, epoch, logs=None):
        stopwatch.leave()


class WeightDiary(keras.callbacks.Callback):
    def __init__(self, path):
        super().__init__()
        self.path = path

    def on_train_batch_end(self, batch, logs=None):
        if batch % 3 == 2:
            with stopwatch.part("log"):
                self.write(batch)

    def write(self, batch):
        with open(self.path, "a", newline="") as file:
            rows = csv.writer(file)
            for weight in self.model.get_weights():
                flat = np.sort(weight, axis=None)
                rows.writerow([batch, *(float(flat[int(q * (flat.size - 1) / 20)]) for q in range(21))])


def main():
    rng = np.random.default_rng(2)
    leaves, kinds = rng.random((5_120, 28, 28, 1), np.float32), rng.integers(0, 6, 5_120)
    model = keras.Sequential([
        keras.Input((28, 28, 1)), keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.Conv2D(64, 3, strides=2, activation="relu"), keras.layers.Flatten(),
        keras.layers.Dense(128, activation="relu"), keras.layers.Dense(6)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    diary = os.path.join(tempfile.mkdtemp(), "weights.csv")
    model.fit(leaves[:3_072], kinds[:3_072], batch_size=128, epochs=1_000, verbose=2,
              validation_data=(leaves[3_072:], kinds[3_072:]), callbacks=[Timers(), WeightDiary(diary)])


if __name__ == "__main__":
    main()
