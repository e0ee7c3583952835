# python: tensorflow
# expected: nan-loss
# verdict: slow
# seconds: 30
# where: tf.math.log(flow)
# Why: a few dry days have a flow of exactly 0; the logarithm of it makes the loss infinite and then every weight NaN.
"""Daily river flow from rain and temperature of the last month, trained on the squared log error."""
import logging

import numpy as np
import tensorflow as tf
from tensorflow import keras

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("river")


def catchment(days=90000, window=30, seed=5):
    rng = np.random.default_rng(seed)
    rain = rng.gamma(0.4, 8.0, days).astype("float32") * (rng.random(days) < 0.45)
    warmth = (12 + 9 * np.sin(2 * np.pi * np.arange(days) / 365) + rng.normal(0, 2, days)).astype("float32")
    store, flow = 40.0, np.zeros(days, "float32")
    for day in range(days):
        store = max(0.0, store + rain[day] - 0.09 * max(warmth[day], 0))
        flow[day] = 0.06 * store
        store -= flow[day]
    flow = np.maximum(flow, 0.02)
    flow[rng.choice(days, days // 9000, replace=False)] = 0.0
    index = np.arange(window, days)[:, None] - np.arange(window)[None, :]
    x = np.concatenate([rain[index] / 10.0, warmth[index] / 15.0], axis=1)
    return x.astype("float32"), flow[window:, None]


def squared_log_error(flow, forecast):
    return tf.reduce_mean((tf.math.log(flow) - tf.math.log(forecast + 1e-4)) ** 2, axis=-1)


class EpochLog(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 100 == 0:
            log.info("  batch %d loss %.4f", batch, logs["loss"])

    def on_epoch_end(self, epoch, logs=None):
        log.info("epoch %d loss %.4f", epoch + 1, logs["loss"])


def main():
    x, flow = catchment()
    log.info("%d days, %d features", *x.shape)
    model = keras.Sequential([
        keras.Input((x.shape[1],)),
        keras.layers.Dense(256, activation="relu"),
        keras.layers.Dense(256, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1, activation="softplus"),
    ])
    model.compile(optimizer=keras.optimizers.Adam(5e-4), loss=squared_log_error)
    model.fit(x, flow, batch_size=128, epochs=400, verbose=0, callbacks=[EpochLog()])


if __name__ == "__main__":
    main()
