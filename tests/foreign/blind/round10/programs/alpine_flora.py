# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: a deep network takes several seconds to trace and compile before the first step, each epoch ends with a short validation and a
#      checkpoint; then the steps are even and the model itself is the work.
"""Alpine flora: flower photographs in eight classes with a narrow, deep residual network."""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIDE, CLASSES = 40, 8


def flowers(count, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] - SIDE / 2
    theta, radius = np.arctan2(yy, xx), np.hypot(yy, xx)
    labels = rng.integers(0, CLASSES, count)
    images = np.empty((count, SIDE, SIDE, 3), np.float32)
    for n, label in enumerate(labels):
        petals = 3 + label
        edge = 12 + 4 * np.cos(petals * theta + rng.uniform(0, 6.28)) + rng.normal(0, 0.5)
        bloom = (radius < edge).astype(np.float32)
        tint = rng.uniform(0.3, 1.0, 3)
        images[n] = bloom[..., None] * tint + rng.normal(0, 0.25, (SIDE, SIDE, 3))
    return images, labels.astype(np.int32)


def residual(x, width, stride=1):
    short = x
    y = layers.BatchNormalization()(x)
    y = layers.Activation("relu")(y)
    y = layers.Conv2D(width, 3, strides=stride, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    y = layers.Activation("relu")(y)
    y = layers.Conv2D(width, 3, padding="same", use_bias=False)(y)
    if stride != 1 or short.shape[-1] != width:
        short = layers.Conv2D(width, 1, strides=stride)(short)
    return layers.Add()([y, short])


def network(depth=3):
    inputs = keras.Input((SIDE, SIDE, 3))
    x = layers.Conv2D(16, 3, strides=2, padding="same")(inputs)
    for stage, width in enumerate((16, 32, 48)):
        for block in range(depth):
            x = residual(x, width, stride=2 if stage and block == 0 else 1)
    x = layers.GlobalAveragePooling2D()(layers.Activation("relu")(layers.BatchNormalization()(x)))
    return keras.Model(inputs, layers.Dense(CLASSES)(x))


def main():
    x, y = flowers(1536, 1)
    xv, yv = flowers(128, 2)
    train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1536).batch(32, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    valid = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(64)
    model = network()
    print(f"{len(model.layers)} layers, {model.count_params():,} weights", flush=True)
    model.compile(optimizer=keras.optimizers.Adam(2e-3),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    folder = tempfile.mkdtemp(prefix="flora")
    model.fit(train, epochs=150, validation_data=valid, verbose=1, callbacks=[
        keras.callbacks.ModelCheckpoint(os.path.join(folder, "best.weights.h5"), save_weights_only=True, save_best_only=True),
        keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
    ])


if __name__ == "__main__":
    main()
