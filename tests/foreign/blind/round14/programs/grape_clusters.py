# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: validation, a small checkpoint, a table and a lower learning rate at the end of each epoch, all of them short; the bar's loss jumps at each epoch.
"""Segment grape clusters on photographs of vines, with the usual callbacks."""
import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIDE = 64
BATCH = 16


def vines(count, seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:SIDE, :SIDE].astype("float32")
    photos = np.empty((count, SIDE, SIDE, 3), "float32")
    masks = np.zeros((count, SIDE, SIDE, 1), "float32")
    for photo, mask in zip(photos, masks):
        leaf = 0.5 + 0.15 * np.sin(x * rng.uniform(0.1, 0.4) + y * rng.uniform(0.1, 0.4) + rng.uniform(0, 6))
        photo[:] = leaf[..., None] * [0.5, 0.9, 0.4]
        for _ in range(rng.integers(1, 4)):
            row, column, colour = rng.uniform(12, 52), rng.uniform(12, 52), rng.uniform(0.3, 0.6, 3)
            for _ in range(rng.integers(8, 20)):
                away = (y - row - rng.normal(0, 5)) ** 2 + (x - column - rng.normal(0, 3.5)) ** 2
                berry = away < rng.uniform(4, 10)
                photo[berry] = colour * (1.1 - away[berry, None] / 20)
                mask[berry] = 1
        photo += rng.normal(0, 0.05, photo.shape)
    return photos, masks


def mirror(photo, mask):
    if tf.random.uniform([]) < 0.5:
        photo, mask = photo[:, ::-1], mask[:, ::-1]
    return photo * tf.random.uniform([], 0.8, 1.2), mask


def block(x, filters):
    x = layers.SeparableConv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.Activation("relu")(layers.BatchNormalization()(x))
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    return layers.Activation("relu")(layers.BatchNormalization()(x))


def segmenter():
    inputs = keras.Input((SIDE, SIDE, 3))
    skips, x = [], inputs
    for filters in (20, 36):
        x = block(x, filters)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = block(x, 64)
    for filters, skip in zip((36, 20), reversed(skips)):
        x = layers.Conv2DTranspose(filters, 2, strides=2)(x)
        x = block(layers.Concatenate()([x, skip]), filters)
    return keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))


def dice(truth, guess):
    both = keras.ops.sum(truth * guess, axis=(1, 2, 3))
    return 1 - (2 * both + 1) / (keras.ops.sum(truth + guess, axis=(1, 2, 3)) + 1)


def overlap_loss(truth, guess):
    return dice(truth, guess) + keras.ops.mean(keras.losses.binary_crossentropy(truth, guess), axis=(1, 2))


if __name__ == "__main__":
    keras.utils.set_random_seed(12)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vines-"))
    photos, masks = vines(700, 6)
    train = (tf.data.Dataset.from_tensor_slices((photos[:640], masks[:640])).shuffle(640)
             .map(mirror, num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH).prefetch(tf.data.AUTOTUNE))
    held = tf.data.Dataset.from_tensor_slices((photos[640:], masks[640:])).batch(BATCH)
    model = segmenter()
    model.compile(keras.optimizers.Adam(2e-3), overlap_loss, metrics=[keras.metrics.BinaryIoU([1], name="iou")])
    model.fit(train, validation_data=held, epochs=150, callbacks=[
        keras.callbacks.ModelCheckpoint(folder / "best.weights.h5", "val_iou", mode="max", save_best_only=True, save_weights_only=True),
        keras.callbacks.CSVLogger(folder / "history.csv"),
        keras.callbacks.ReduceLROnPlateau("val_loss", patience=4),
        keras.callbacks.EarlyStopping("val_iou", mode="max", patience=60),
    ])
