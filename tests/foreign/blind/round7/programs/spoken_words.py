# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 40
# Why: Every fifth epoch ends with a validation of a second or two and each epoch with a small checkpoint: both are a few per cent of
# the time, the rest is convolution.
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

WORDS = 10
FRAMES, BANDS = 64, 40


def spectrograms(n, seed):
    rng = np.random.default_rng(seed)
    sweep = np.random.default_rng(77).uniform(4, 36, (WORDS, 3, 2))
    label = rng.integers(0, WORDS, n)
    t = np.linspace(0, 1, FRAMES)[None, :, None]
    band = np.arange(BANDS)[None, None, :]
    x = rng.normal(0, 0.9, (n, FRAMES, BANDS))
    for k in range(3):
        lo, hi = sweep[label, k, 0][:, None, None], sweep[label, k, 1][:, None, None]
        x += np.exp(-0.5 * ((band - (lo + (hi - lo) * t)) / 1.5) ** 2)
    return x[..., None].astype("float32"), label


def pipeline(x, y, batch, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), reshuffle_each_iteration=True)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)


def block(x, width):
    skip = keras.layers.Conv2D(width, 1)(x)
    x = keras.layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
    x = keras.layers.BatchNormalization()(x)
    x = keras.layers.ReLU()(x)
    x = keras.layers.Conv2D(width, 3, padding="same")(x)
    return keras.layers.MaxPooling2D()(keras.layers.add([x, skip]))


def main():
    workdir = tempfile.mkdtemp(prefix="words_")
    train = pipeline(*spectrograms(1600, 1), 32, True)
    valid = pipeline(*spectrograms(1200, 2), 32, False)
    inputs = keras.Input((FRAMES, BANDS, 1))
    x = inputs
    for width in (16, 32, 48):
        x = block(x, width)
    x = keras.layers.GlobalAveragePooling2D()(x)
    model = keras.Model(inputs, keras.layers.Dense(WORDS)(x))
    model.compile(
        optimizer=keras.optimizers.SGD(0.02, momentum=0.9),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        train,
        validation_data=valid,
        validation_freq=5,
        epochs=300,
        callbacks=[
            keras.callbacks.ModelCheckpoint(os.path.join(workdir, "words.weights.h5"), save_weights_only=True),
            keras.callbacks.CSVLogger(os.path.join(workdir, "words.csv")),
        ],
    )


main()
