# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: an endless Python generator feeds fit, but it only slices ready arrays and takes next to no time; the convolutions are the work.
"""Segment the wakes of ferries in harbour camera frames with a small U-Net."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE = 48
BATCH = 16


def frames(n=1200, seed=31):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32")
    angle = rng.uniform(0, np.pi, (n, 1, 1))
    shift = rng.uniform(-8, 8, (n, 1, 1))
    d = (xx - SIDE / 2) * np.sin(angle) - (yy - SIDE / 2) * np.cos(angle) - shift
    mask = (np.abs(d) < 3).astype("float32")
    image = 0.6 * mask + rng.normal(0, 0.5, mask.shape)
    return image[..., None].astype("float32"), mask[..., None]


def stream(images, masks, seed=0):
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(images))
        for lo in range(0, len(order) - BATCH + 1, BATCH):
            idx = order[lo:lo + BATCH]
            yield images[idx], masks[idx]


def unet():
    inp = keras.Input((SIDE, SIDE, 1))
    a = layers.Conv2D(32, 3, padding="same", activation="relu")(inp)
    a = layers.Conv2D(32, 3, padding="same", activation="relu")(a)
    b = layers.MaxPooling2D()(a)
    b = layers.Conv2D(64, 3, padding="same", activation="relu")(b)
    b = layers.Conv2D(64, 3, padding="same", activation="relu")(b)
    c = layers.MaxPooling2D()(b)
    c = layers.Conv2D(96, 3, padding="same", activation="relu")(c)
    u = layers.UpSampling2D()(c)
    u = layers.Conv2D(64, 3, padding="same", activation="relu")(layers.Concatenate()([u, b]))
    u = layers.UpSampling2D()(u)
    u = layers.Conv2D(32, 3, padding="same", activation="relu")(layers.Concatenate()([u, a]))
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(u))


def main():
    images, masks = frames()
    spec = tf.TensorSpec((BATCH, SIDE, SIDE, 1), tf.float32)
    ds = tf.data.Dataset.from_generator(lambda: stream(images, masks), output_signature=(spec, spec))
    model = unet()
    model.compile(optimizer=keras.optimizers.Adam(5e-4), loss="binary_crossentropy")
    model.fit(ds.prefetch(4), steps_per_epoch=len(images) // BATCH, epochs=60, verbose=1)


if __name__ == "__main__":
    main()
