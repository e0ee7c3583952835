# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 35
# Why: a PyDataset on one worker, validation, a checkpoint and a log after each epoch: each of them takes a small part of the time.
"""Dust forecast next to a quarry from a day of sensor readings."""
import math
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import keras
from keras import layers

HOURS, SENSORS = 48, 10


class SensorWindows(keras.utils.PyDataset):
    def __init__(self, table, starts, batch_size=128, shuffle=True, **kwargs):
        super().__init__(**kwargs)
        self.table, self.starts = table, starts.copy()
        self.batch_size, self.shuffle = batch_size, shuffle
        self.rng = np.random.default_rng(6)

    def __len__(self):
        return math.ceil(len(self.starts) / self.batch_size)

    def __getitem__(self, index):
        starts = self.starts[index * self.batch_size:(index + 1) * self.batch_size]
        rows = starts[:, None] + np.arange(HOURS)[None]
        return self.table[rows], self.table[starts + HOURS, :1]

    def on_epoch_end(self):
        if self.shuffle:
            self.rng.shuffle(self.starts)


def readings(n=12000, seed=9):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    columns = []
    for k in range(SENSORS):
        shift = rng.uniform(0, 24)
        columns.append(np.sin(2 * np.pi * (t + shift) / 24) + 0.3 * np.sin(2 * np.pi * t / (90 + 7 * k)))
    table = np.stack(columns, 1) + rng.normal(0, 0.35, (n, SENSORS))
    return table.astype("float32")


def build():
    return keras.Sequential([
        keras.Input((HOURS, SENSORS)),
        layers.Conv1D(96, 5, padding="causal", activation="relu"),
        layers.Conv1D(128, 5, padding="causal", activation="relu", dilation_rate=2),
        layers.Conv1D(128, 5, padding="causal", activation="relu", dilation_rate=4),
        layers.GlobalMaxPooling1D(),
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(1),
    ])


def main():
    folder = tempfile.mkdtemp(prefix="quarry_")
    table = readings()
    starts = np.arange(len(table) - HOURS - 1)
    train = SensorWindows(table, starts[:6400])
    val = SensorWindows(table, starts[9000:9640], shuffle=False)
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(3e-4), loss=keras.losses.Huber(), metrics=["mae"])
    model.fit(
        train,
        validation_data=val,
        epochs=200,
        verbose=2,
        callbacks=[
            keras.callbacks.ModelCheckpoint(os.path.join(folder, "best.keras"), save_best_only=True),
            keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
            keras.callbacks.EarlyStopping(patience=150),
        ],
    )


if __name__ == "__main__":
    main()
