# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: now and then a full validation of some seconds and a checkpoint every second epoch; both are a small share and wanted.
"""Ridership of 30 tram stops, two hours ahead."""
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import keras
import numpy as np
from keras import layers

STOPS, WINDOW = 30, 48


def counts(days, seed=0):
    rng = np.random.default_rng(seed)
    slot = np.arange(days * 96)
    hour = (slot % 96) / 4.0
    weekday = (slot // 96) % 7
    base = np.exp(-((hour - 8) / 1.5) ** 2) + 0.9 * np.exp(-((hour - 17.5) / 2.0) ** 2) + 0.15
    base = base * np.where(weekday < 5, 1.0, 0.55)
    scale = rng.uniform(0.4, 2.0, STOPS)
    lag = rng.integers(0, 6, STOPS)
    series = np.stack([np.roll(base, k) * s for k, s in zip(lag, scale)], axis=1)
    return (series * (1 + 0.15 * rng.standard_normal(series.shape))).astype("float32")


def windows(series):
    idx = np.arange(WINDOW)[None] + np.arange(len(series) - WINDOW - 8)[:, None]
    return series[idx], series[idx[:, -1] + 8]


def build_model():
    inp = keras.Input((WINDOW, STOPS))
    h = layers.GRU(96, return_sequences=True)(inp)
    h = layers.GRU(96)(h)
    h = layers.Dense(64, activation="relu")(h)
    return keras.Model(inp, layers.Dense(STOPS)(h))


class Summary(keras.callbacks.Callback):
    steps = 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        if self.steps % 30 == 0:
            print(f"steps {self.steps} loss={logs['loss']:.5f}", flush=True)

    def on_epoch_end(self, epoch, logs=None):
        if "val_loss" in logs:
            print(f"epoch {epoch + 1} validation={logs['val_loss']:.5f}", flush=True)


def main():
    series = counts(130)
    cut = 96 * 100
    x, y = windows(series[:cut])
    xv, yv = windows(series[cut:])
    rng = np.random.default_rng(1)
    model = build_model()
    model.compile(keras.optimizers.Adam(1e-3), "huber")
    picks = rng.permutation(len(x))[:5760]
    with tempfile.TemporaryDirectory() as folder:
        model.fit(
            x[picks], y[picks], batch_size=64, epochs=2000, verbose=0,
            validation_data=(xv, yv), validation_freq=2, validation_batch_size=256,
            callbacks=[
                Summary(),
                keras.callbacks.ModelCheckpoint(os.path.join(folder, "tram-{epoch:04d}.weights.h5"),
                                                save_weights_only=True, save_freq=90 * 2),
            ])


if __name__ == "__main__":
    main()
