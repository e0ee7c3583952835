# python: tensorflow
"""Reef survey: estimate the share of live coral from downward-looking photo quadrats."""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE = 72
BATCH = 16
RNG = np.random.default_rng(41)
# attenuation of red, green, blue per metre of water
ATTENUATION = np.array([0.31, 0.07, 0.04], dtype=np.float32)


def synth_quadrats(count):
    photos = RNG.integers(20, 90, (count, SIZE, SIZE, 3)).astype(np.uint8)
    cover = np.zeros(count, np.float32)
    depth = RNG.uniform(2.0, 11.0, count).astype(np.float32)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    for n in range(count):
        mask = np.zeros((SIZE, SIZE), bool)
        for _ in range(RNG.integers(1, 7)):
            cy, cx, r = RNG.integers(0, SIZE), RNG.integers(0, SIZE), RNG.integers(4, 18)
            mask |= (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
        photos[n][mask] = np.clip(photos[n][mask] + np.array([110, 60, 30]), 0, 255)
        cover[n] = mask.mean()
        photos[n] = (photos[n] * np.exp(-ATTENUATION * depth[n])).astype(np.uint8)
    return photos, depth, cover


def restore_colour(photo, depth):
    """Undo the water column's attenuation, darker towards the corners."""
    height, width, channels = photo.shape
    gain = np.exp(ATTENUATION * depth)
    dy = (np.arange(height, dtype=np.float32)[:, None] - height / 2) / height
    dx = (np.arange(width, dtype=np.float32)[None, :] - width / 2) / width
    vignette = 1.0 + 0.4 * (dy * dy + dx * dx)
    return np.minimum(photo * (gain / 255.0) * vignette[..., None], 1.0).astype(np.float32)


def prepare(photo, depth, cover):
    image = tf.numpy_function(restore_colour, [photo, depth], tf.float32)
    image.set_shape((SIZE, SIZE, 3))
    image = tf.image.random_flip_left_right(image)
    return image, cover


def make_dataset(photos, depth, cover):
    ds = tf.data.Dataset.from_tensor_slices((photos, depth, cover))
    ds = ds.shuffle(len(photos)).map(prepare, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def build():
    inputs = keras.Input((SIZE, SIZE, 3))
    x = inputs
    for width in (12, 24, 32):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))


if __name__ == "__main__":
    photos, depth, cover = synth_quadrats(640)
    print(f"{len(photos)} quadrats, mean live cover {cover.mean():.3f}", flush=True)
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
    model.fit(make_dataset(photos, depth, cover), epochs=400, verbose=1)
    model.save(os.path.join(tempfile.gettempdir(), "reef_survey.keras"))
