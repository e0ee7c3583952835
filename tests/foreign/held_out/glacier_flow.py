# python: tensorflow
# expected: slow-callback
# verdict: slow
# seconds: 30
# where: savez_compressed / on_train_batch_end / get_weights
# Why: a callback compresses all weights into a file after every batch; that takes several times as long as the step.
import csv
import os
import pathlib
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras


class Diary(keras.callbacks.Callback):
    """Weights of the last ten batches, and a table, for the film we want to make of the training."""

    def __init__(self, folder):
        super().__init__()
        self.folder = pathlib.Path(folder)
        self.table = open(self.folder / "diary.csv", "w", newline="")
        self.rows = csv.writer(self.table)
        self.count = 0

    def on_train_batch_end(self, batch, logs=None):
        self.count += 1
        weights = {f"w{i}": w for i, w in enumerate(self.model.get_weights())}
        np.savez_compressed(self.folder / f"frame{self.count % 10}.npz", **weights)
        self.rows.writerow([self.count, logs["loss"]])

    def on_train_end(self, logs=None):
        self.table.close()


def velocity_field(n=4096, width=128, seed=1):
    rng = np.random.default_rng(seed)
    slope = rng.standard_normal((n, width)).astype("float32")
    speed = np.tanh(slope @ rng.standard_normal((width, 2)).astype("float32"))
    return slope, speed


def network(width):
    x = inputs = keras.Input(shape=(width,), name="slope")
    for units in (512, 512, 512):
        skip = keras.layers.Dense(units)(x)
        x = keras.layers.Dense(units, activation="swish")(x)
        x = keras.layers.add([x, skip])
    return keras.Model(inputs, keras.layers.Dense(2, name="speed")(x), name="glacier")


if __name__ == "__main__":
    slope, speed = velocity_field()
    model = network(slope.shape[1])
    model.compile(loss=keras.losses.Huber(), optimizer=keras.optimizers.SGD(0.05, momentum=0.9))
    with tempfile.TemporaryDirectory() as folder:
        model.fit(slope, speed, batch_size=64, epochs=100, callbacks=[Diary(folder)])
