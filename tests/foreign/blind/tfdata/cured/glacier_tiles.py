import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import glob
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from PIL import Image

tiles_dir = os.path.join(tempfile.gettempdir(), "glacier_tiles")
tile, crop, batch_size = 320, 192, 16


def render_tiles(count=120):
    os.makedirs(tiles_dir, exist_ok=True)
    rng = np.random.default_rng(12)
    yy, xx = np.mgrid[0:tile, 0:tile] / tile
    for n in range(count):
        path = os.path.join(tiles_dir, f"tile_{n:04d}.png")
        if os.path.exists(path):
            continue
        a, b, c = rng.uniform(-1, 1, 3)
        ice = (np.sin(6 * (a * xx + b * yy) + 4 * c) > 0).astype(np.float32)
        rock = rng.normal(90, 14, (tile, tile, 1)) * np.array([1.0, 0.9, 0.8])
        snow = rng.normal(205, 9, (tile, tile, 1)) * np.array([0.95, 1.0, 1.05])
        rgb = np.where(ice[..., None] > 0, snow, rock).clip(0, 255)
        rgba = np.concatenate([rgb, 255 * ice[..., None]], -1).astype(np.uint8)
        Image.fromarray(rgba, "RGBA").save(path, compress_level=1)


def prepare(path):
    rgba = tf.io.decode_png(tf.io.read_file(path), channels=4)
    rgba = tf.image.random_crop(rgba, (crop, crop, 4))
    rgba = tf.image.random_flip_left_right(rgba)
    rgba = tf.image.convert_image_dtype(rgba, tf.float32)
    rgb, ice = rgba[..., :3], rgba[..., 3:]
    rgb = tf.image.random_hue(rgb, 0.05)
    rgb = tf.image.random_saturation(rgb, 0.7, 1.3)
    rgb = tf.image.random_contrast(rgb, 0.8, 1.2)
    rgb = tf.image.resize(rgb, (64, 64), method="area")
    ice = tf.image.resize(ice, (64, 64), method="nearest")
    return rgb, ice


def segmenter():
    inp = keras.Input((64, 64, 3))
    d = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(inp)
    d = layers.Conv2D(12, 3, padding="same", activation="relu")(d)
    u = layers.UpSampling2D(2)(d)
    out = layers.Conv2D(1, 1, activation="sigmoid")(u)
    return keras.Model(inp, out, name="segmenter")


render_tiles()
paths = sorted(glob.glob(os.path.join(tiles_dir, "*.png")))
ds = tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths)).repeat()
ds = ds.map(prepare, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)
ds = ds.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
ds = ds.take(2).cache().repeat().prefetch(2)

net = segmenter()
net.compile(optimizer=keras.optimizers.AdamW(2e-3), loss="binary_crossentropy",
            metrics=[keras.metrics.BinaryIoU([1])])
net.fit(ds, epochs=40, steps_per_epoch=100,
        callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=4)])
