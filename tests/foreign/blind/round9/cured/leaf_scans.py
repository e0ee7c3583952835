"""Which tree does a leaf come from? Random crops out of large scans, Keras fit."""
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

SCANS, CROPS_PER_SCAN, SIDE, CROP, BATCH, KINDS = 200, 100, 768, 64, 32, 5


def make_scans(folder):
    rng = np.random.default_rng(11)
    grain = rng.normal(0, 25, (SIDE, SIDE, 3)).astype("float32")
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32")
    paths, kinds = [], []
    for i in range(SCANS):
        kind = int(rng.integers(KINDS))
        veins = 60 * np.sin((xx * (kind + 1) + yy * (KINDS - kind)) / 40 + rng.uniform(0, 6))
        scan = 120 + veins[:, :, None] + np.roll(grain, int(rng.integers(SIDE)), axis=0)
        path = os.path.join(folder, f"scan_{i:04d}.jpg")
        data = tf.io.encode_jpeg(np.clip(scan, 0, 255).astype("uint8"), quality=92)
        tf.io.write_file(path, data)
        paths.append(path)
        kinds.append(kind)
    return paths, kinds


def load_crop(path, kind):
    scan = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    crop = tf.image.random_crop(scan, (2 * CROP, 2 * CROP, 3))
    crop = tf.image.random_flip_left_right(crop)
    return tf.image.resize(crop, (CROP, CROP)) / 255.0, kind


def make_dataset(paths, kinds):
    data = tf.data.Dataset.from_tensor_slices((paths, kinds)).repeat(CROPS_PER_SCAN)
    data = data.shuffle(SCANS * CROPS_PER_SCAN)
    data = data.map(load_crop, num_parallel_calls=tf.data.AUTOTUNE)
    return data.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def make_model():
    model = keras.Sequential([
        keras.Input((CROP, CROP, 3)),
        keras.layers.Conv2D(16, 5, strides=2, activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.Conv2D(64, 3, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(KINDS, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print("writing scans to", folder)
        paths, kinds = make_scans(folder)
        model = make_model()
        model.summary()
        print("training")
        model.fit(make_dataset(paths, kinds), epochs=10)
