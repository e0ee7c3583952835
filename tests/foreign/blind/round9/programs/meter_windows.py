# python: tensorflow
# expected: python-generator [also accepted: input-bound]
# verdict: slow
# seconds: 30
# where: from_generator
# Why: a Python generator makes one window at a time, under Python's lock, and the small network waits for its batches.
"""Which appliance is running? Windows out of the readings of electricity meters, classified with Keras fit."""
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

APPLIANCES, WINDOW, BATCH, READINGS = 5, 96, 128, 400000


def meter(seed=6):
    rng = np.random.default_rng(seed)
    stretch = 2000
    kinds = rng.integers(0, APPLIANCES, READINGS // stretch)
    t = np.arange(stretch)
    power = [np.sign(np.sin(t / (3.0 + 2.5 * kind))) * (0.5 + 0.3 * kind) for kind in kinds]
    power = np.concatenate(power) + rng.normal(0, 0.8, READINGS)
    return power.astype("float32"), np.repeat(kinds, stretch).astype("int32")


POWER, KIND = meter()
MEAN, STD = float(POWER.mean()), float(POWER.std())


def windows():
    rng = np.random.default_rng(1)
    while True:
        start = int(rng.integers(0, READINGS - WINDOW))
        cut = (POWER[start:start + WINDOW] - MEAN) / STD
        gain = rng.normal(1.0, 0.05)
        noise = rng.normal(0.0, 0.1, WINDOW)
        yield (cut * gain + noise).astype("float32")[:, None], KIND[start + WINDOW // 2]


def dataset():
    signature = (tf.TensorSpec((WINDOW, 1), tf.float32), tf.TensorSpec((), tf.int32))
    data = tf.data.Dataset.from_generator(windows, output_signature=signature)
    return data.batch(BATCH).prefetch(tf.data.AUTOTUNE)


class Ticker(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.done, self.began = 0, time.time()

    def on_train_batch_end(self, batch, logs=None):
        self.done += 1
        if self.done % 20 == 0:
            each = 1000 * (time.time() - self.began) / self.done
            print(f"step {self.done}  loss {logs['loss']:.4f}  accuracy {logs['accuracy']:.3f}  {each:.0f} ms a step")


def main():
    model = keras.Sequential([
        keras.Input((WINDOW, 1)),
        keras.layers.Conv1D(16, 7, strides=2, activation="relu"),
        keras.layers.Conv1D(32, 5, strides=2, activation="relu"),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(APPLIANCES, activation="softmax"),
    ])
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(dataset(), steps_per_epoch=500, epochs=200, verbose=0, callbacks=[Ticker()])


if __name__ == "__main__":
    main()
