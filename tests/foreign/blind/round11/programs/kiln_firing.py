# python: tensorflow
# expected: single-core-affinity
# verdict: slow
# seconds: 30
# where: set_intra_op_parallelism_threads
# Why: TensorFlow is told to use one thread, the model is large enough for both cores and one of them idles.
"""Cracks in fired tiles from thermal pictures of the kiln."""
import os
import random

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SEED = 77
# settings of the group's reproducible runs
random.seed(SEED)
np.random.seed(SEED)
tf.random.set_seed(SEED)
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)


def thermal_pictures(n, side=64):
    yy, xx = np.mgrid[0:side, 0:side].astype("float32") / side
    pictures = np.empty((n, side, side, 1), "float32")
    cracked = np.random.randint(0, 2, n)
    for i in range(n):
        cx, cy = np.random.rand(2)
        heat = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 0.2)
        if cracked[i]:
            slope, shift = np.random.uniform(-1, 1), np.random.uniform(0.2, 0.8)
            heat = heat - 0.35 * np.exp(-((yy - shift - slope * (xx - 0.5)) / 0.02) ** 2)
        pictures[i, ..., 0] = heat + 0.1 * np.random.randn(side, side)
    return pictures, cracked.astype("float32")[:, None]


def residual(z, filters):
    skip = layers.Conv2D(filters, 1, padding="same")(z)
    z = layers.Conv2D(filters, 3, padding="same", activation="relu")(z)
    z = layers.Conv2D(filters, 3, padding="same")(z)
    return layers.ReLU()(layers.Add()([skip, z]))


def build():
    inp = keras.Input((64, 64, 1))
    z = layers.Conv2D(32, 5, strides=2, padding="same", activation="relu")(inp)
    z = residual(z, 64)
    z = layers.MaxPooling2D()(z)
    z = residual(z, 128)
    z = layers.GlobalAveragePooling2D()(z)
    return keras.Model(inp, layers.Dense(1)(z))


class StepPrinter(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        if self.steps % 5 == 0:
            print(f"step {self.steps} loss {logs['loss']:.4f} acc {logs['accuracy']:.3f}", flush=True)


x, y = thermal_pictures(1600)
train = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(1600).batch(64).prefetch(2)
model = build()
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="accuracy")],
)
model.fit(train, epochs=80, verbose=0, callbacks=[StepPrinter()])
