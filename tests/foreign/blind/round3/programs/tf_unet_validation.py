# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: looks suspicious because every fourth epoch ends with a validation of some seconds in which no training step is made; it is a small share of
# the whole and wanted so.
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIDE = 48


def cells(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32")
    image = 0.2 * rng.standard_normal((n, SIDE, SIDE)).astype("float32")
    mask = np.zeros((n, SIDE, SIDE), "float32")
    for _ in range(3):
        cx, cy = rng.uniform(8, SIDE - 8, (2, n, 1, 1)).astype("float32")
        r = rng.uniform(3, 7, (n, 1, 1)).astype("float32")
        inside = ((xx - cx) ** 2 + (yy - cy) ** 2 < r ** 2)
        mask = np.maximum(mask, inside)
        image += 0.5 * inside
    return image[..., None], mask[..., None]


def block(x, f):
    x = layers.Conv2D(f, 3, padding="same", activation="relu")(x)
    return layers.Conv2D(f, 3, padding="same", activation="relu")(x)


inp = keras.Input((SIDE, SIDE, 1))
c1 = block(inp, 12)
c2 = block(layers.MaxPooling2D()(c1), 24)
c3 = block(layers.MaxPooling2D()(c2), 48)
u2 = block(layers.Concatenate()([layers.UpSampling2D()(c3), c2]), 24)
u1 = block(layers.Concatenate()([layers.UpSampling2D()(u2), c1]), 12)
model = keras.Model(inp, layers.Conv2D(1, 1)(u1))
model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss=keras.losses.BinaryCrossentropy(from_logits=True))

x, y = cells(1600, 1)
xv, yv = cells(3000, 2)
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1600).batch(16).prefetch(2)
valid = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(32).prefetch(2)


class Steps(keras.callbacks.Callback):
    n = 0

    def on_train_batch_end(self, batch, logs=None):
        self.n += 1
        if self.n % 20 == 0:
            print(f"step {self.n} loss {logs['loss']:.4f}", flush=True)

    def on_test_end(self, logs=None):
        print(f"validation loss {logs['loss']:.4f}", flush=True)


model.fit(train, validation_data=valid, validation_freq=4, epochs=80, verbose=0, callbacks=[Steps()])
