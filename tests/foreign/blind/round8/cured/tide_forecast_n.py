# python: tensorflow
# expected: garbage-collection [also accepted: slow-callback]
# verdict: slow
# seconds: 30
# where: gc.collect()
# Why: a callback copied against "memory growing" collects garbage after every batch; with TensorFlow's hundreds of thousands of
# objects each pass takes many times longer than the step.
import gc

import numpy as np
import tensorflow as tf
from tensorflow import keras

HISTORY, AHEAD = 96, 12


def harbour_levels(hours):
    t = np.arange(hours, dtype=np.float32)
    level = 1.9 * np.sin(2 * np.pi * t / 12.42) + 0.6 * np.sin(2 * np.pi * t / 12.0 + 1.0)
    level += 0.3 * np.sin(2 * np.pi * t / 25.82 + 0.4) + 0.2 * np.sin(2 * np.pi * t / 8766)
    surge = np.convolve(np.random.default_rng(2).standard_normal(hours), np.ones(48) / 48, mode="same")
    return (level + surge).astype("float32")


def windows(level):
    view = np.lib.stride_tricks.sliding_window_view(level, HISTORY + AHEAD)
    return view[:, :HISTORY, None].copy(), view[:, HISTORY:].copy()


class TidyUp(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.best = float("inf")

    def on_epoch_end(self, epoch, logs=None):
        gc.collect()
        self.best = min(self.best, logs["loss"])
        print(f"  best so far: {self.best:.4f}", flush=True)


def build():
    past = keras.Input((HISTORY, 1))
    x = keras.layers.Conv1D(32, 5, dilation_rate=1, padding="causal", activation="relu")(past)
    for rate in (2, 4, 8):
        y = keras.layers.Conv1D(32, 5, dilation_rate=rate, padding="causal", activation="relu")(x)
        x = keras.layers.Add()([x, y])
    x = keras.layers.Flatten()(x)
    x = keras.layers.Dense(64, activation="relu")(x)
    return keras.Model(past, keras.layers.Dense(AHEAD)(x), name="tide")


if __name__ == "__main__":
    keras.utils.set_random_seed(1)
    x, y = windows(harbour_levels(24 * 365))
    print("windows:", x.shape, "->", y.shape, flush=True)
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
    model.fit(x, y, batch_size=32, epochs=500, callbacks=[TidyUp()])
