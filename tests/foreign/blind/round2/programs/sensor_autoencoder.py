# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# how: attach
# Why: looks suspicious because verbose=0 leaves only one line now and then and the loss has converged to the sensor noise early; the steps go on evenly and the floor is the noise itself.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

CHANNELS, FACTORS, NOISE = 64, 6, 0.1
rng = np.random.default_rng(29)


def make_readings(n):
    mix = rng.normal(size=(FACTORS, CHANNELS)) / np.sqrt(FACTORS)
    z = rng.normal(size=(n, FACTORS))
    x = z @ mix + NOISE * rng.normal(size=(n, CHANNELS))
    return x.astype("float32")


class Report(keras.callbacks.Callback):
    def __init__(self, every):
        super().__init__()
        self.every = every

    def on_epoch_end(self, epoch, logs=None):
        if epoch % self.every == 0:
            print(f"epoch {epoch} reconstruction {logs['loss']:.5f}", flush=True)


def build():
    inp = keras.Input((CHANNELS,))
    h = layers.Dense(256, activation="relu")(inp)
    h = layers.Dense(128, activation="relu")(h)
    code = layers.Dense(FACTORS, name="code")(h)
    h = layers.Dense(128, activation="relu")(code)
    h = layers.Dense(256, activation="relu")(h)
    out = layers.Dense(CHANNELS)(h)
    model = keras.Model(inp, out)
    model.compile(keras.optimizers.Adam(5e-4), "mse")
    return model


def main():
    x = make_readings(20000)
    ds = tf.data.Dataset.from_tensor_slices((x, x)).cache().shuffle(20000).batch(256).prefetch(2)
    model = build()
    model.fit(ds, epochs=400, verbose=0, callbacks=[Report(8)])
    print("done", model.evaluate(x, x, verbose=0))


if __name__ == "__main__":
    main()
