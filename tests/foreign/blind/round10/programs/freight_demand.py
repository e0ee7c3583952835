# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the batches come from a plain Python generator, and validation follows each epoch; but a batch is one slice of an array, made in a
#      millisecond and prefetched, and the recurrent network is the work.
"""Weekly freight demand on 400 lanes, one recurrent network for all of them."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras

LANES, WEEKS, LOOKBACK, BATCH = 400, 520, 52, 128


class DemandBook:
    def __init__(self, seed=17):
        rng = np.random.default_rng(seed)
        week = np.arange(WEEKS)
        season = np.cos(2 * np.pi * (week[None] / 52 + rng.uniform(0, 1, (LANES, 1))))
        trend = rng.normal(0, 0.004, (LANES, 1)) * week
        shocks = np.cumsum(rng.normal(0, 0.04, (LANES, WEEKS)), axis=1)
        self.demand = (season + trend + shocks + rng.normal(0, 0.1, (LANES, WEEKS))).astype(np.float32)
        self.calendar = np.stack([np.sin(2 * np.pi * week / 52), np.cos(2 * np.pi * week / 52)], -1).astype(np.float32)
        self.rng = rng

    def sample(self, first, last):
        lane = self.rng.integers(LANES, size=BATCH)
        start = self.rng.integers(first, last - LOOKBACK - 4, size=BATCH)
        weeks = start[:, None] + np.arange(LOOKBACK)
        past = self.demand[lane[:, None], weeks]
        level = past[:, -1:]
        x = np.concatenate([(past - level)[..., None], self.calendar[weeks]], axis=-1)
        y = self.demand[lane[:, None], start[:, None] + LOOKBACK + np.arange(4)] - level
        return x, y

    def stream(self, first, last):
        while True:
            yield self.sample(first, last)


book = DemandBook()
signature = (tf.TensorSpec((BATCH, LOOKBACK, 3), tf.float32), tf.TensorSpec((BATCH, 4), tf.float32))


def lanes(first, last):
    return tf.data.Dataset.from_generator(lambda: book.stream(first, last), output_signature=signature).prefetch(2)


model = keras.Sequential([
    keras.Input((LOOKBACK, 3)),
    keras.layers.GRU(96, return_sequences=True),
    keras.layers.GRU(96),
    keras.layers.Dense(48, activation="relu"),
    keras.layers.Dense(4),
])
model.compile(optimizer=keras.optimizers.Adam(1e-3, clipnorm=1.0), loss="mse")
model.summary()
model.fit(lanes(0, 420), steps_per_epoch=40, epochs=300,
          validation_data=lanes(400, 520), validation_steps=3, verbose=1)
