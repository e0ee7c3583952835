# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: building the graph of a deep model makes the first step long, the epochs are short, each ends with validation and a
# checkpoint; all of it is cheap beside the training steps.
"""Ten kinds of clouds on small sky images: a residual network with Keras fit."""
import os
import tempfile

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

KINDS, SIDE = 10, 32


def skies(count, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, KINDS, count)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32") / SIDE
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    coarse = (1 + kinds % 5)[:, None, None]
    tilt = (kinds // 5)[:, None, None]
    field = np.sin(2 * np.pi * coarse * (xx + tilt * yy) + phase)
    images = np.stack([field, 0.5 * field, -field], axis=-1) + rng.normal(0, 1.1, (count, SIDE, SIDE, 3))
    return images.astype("float32"), kinds.astype("int32")


def block(x, width, stride=1):
    shortcut = x
    x = layers.Conv2D(width, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    x = layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    if stride != 1 or shortcut.shape[-1] != width:
        shortcut = layers.Conv2D(width, 1, strides=stride, use_bias=False)(shortcut)
    return layers.ReLU()(layers.Add()([x, shortcut]))


def build(blocks_per_stage=2):
    inputs = keras.Input((SIDE, SIDE, 3))
    x = layers.Conv2D(16, 3, strides=2, padding="same")(inputs)
    for stage, width in enumerate((16, 32, 64)):
        for i in range(blocks_per_stage):
            x = block(x, width, stride=2 if stage and i == 0 else 1)
    x = layers.GlobalAveragePooling2D()(x)
    outputs = layers.Dense(KINDS, activation="softmax")(x)
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    x, y = skies(6400, seed=1)
    x_val, y_val = skies(512, seed=2)
    model = build()
    print("parameters:", model.count_params())
    path = os.path.join(tempfile.gettempdir(), "cloud_types_best.weights.h5")
    keep = keras.callbacks.ModelCheckpoint(path, save_weights_only=True, save_best_only=True)
    model.fit(x, y, batch_size=64, epochs=120, validation_data=(x_val, y_val), callbacks=[keep])


if __name__ == "__main__":
    main()
