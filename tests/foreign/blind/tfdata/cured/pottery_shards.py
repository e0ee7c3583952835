"""Date pottery shards by ware (seven wares, scanned at 96 px)."""
import os
import pathlib
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf
from PIL import Image
from tensorflow import keras
from tensorflow.keras import layers

WARES = 7
SIDE = 96
ROOT = pathlib.Path(tempfile.gettempdir()) / "pottery_shards"


def scan_shards(n=420):
    ROOT.mkdir(exist_ok=True)
    rng = np.random.default_rng(3)
    grid = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    for i in range(n):
        path = ROOT / f"{i % WARES}_{i:04d}.jpg"
        if path.exists():
            continue
        stripes = np.sin(grid[i % 2] * (0.1 + 0.08 * (i % WARES)) + rng.uniform(0, 6))
        clay = 130 + 50 * stripes[..., None] * np.array([1.0, 0.7, 0.5])
        clay = clay + rng.normal(0, 10, clay.shape)
        Image.fromarray(clay.clip(0, 255).astype(np.uint8)).save(path, quality=88)
    return sorted(str(p) for p in ROOT.glob("*.jpg"))


def read_shard(path):
    name = tf.strings.split(path, os.sep)[-1]
    ware = tf.strings.to_number(tf.strings.substr(name, 0, 1), tf.int32)
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.random_flip_left_right(image)
    image = tf.image.resize(image, (72, 72)) / 255.0
    return image, ware


def block(x, filters):
    for _ in range(2):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
    return layers.MaxPooling2D()(x)


def network():
    inputs = keras.Input((72, 72, 3))
    x = inputs
    for filters in (32, 64, 128):
        x = block(x, filters)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inputs, layers.Dense(WARES, activation="softmax")(x))


def main():
    shards = scan_shards()
    ds = tf.data.Dataset.from_tensor_slices(shards)
    ds = ds.shuffle(len(shards)).repeat()
    ds = ds.map(read_shard)
    ds = ds.batch(16).prefetch(2)
    ds = ds.take(2).cache().repeat().prefetch(2)
    model = network()
    model.compile(optimizer=keras.optimizers.Adam(1e-3),
                  loss=keras.losses.SparseCategoricalCrossentropy(), metrics=["accuracy"])
    model.fit(ds, steps_per_epoch=26, epochs=40)
    model.save(ROOT.parent / "pottery_shards.keras")


if __name__ == "__main__":
    main()
