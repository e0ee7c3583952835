"""Recognize garment fabrics by their weave in close-up pictures."""

import numpy as np
import keras
from keras import layers

FABRICS = ["plain", "twill", "satin", "herringbone", "basket", "corduroy", "denim", "houndstooth"]
SIDE = 40
EPOCHS = 60
PEAK_RATE = 5e-4


def weave(kind, rng):
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    turn = rng.uniform(0, np.pi)
    u = x * np.cos(turn) + y * np.sin(turn)
    v = y * np.cos(turn) - x * np.sin(turn)
    step = rng.uniform(0.9, 1.2)
    patterns = {
        0: lambda: np.sin(u * step) * np.sin(v * step),
        1: lambda: np.sin((u + v) * step),
        2: lambda: np.sin(u * step) * (np.sin(v * step / 4) > 0.5),
        3: lambda: np.sin((u + np.abs((v % 12) - 6)) * step),
        4: lambda: np.sign(np.sin(u * step / 2) * np.sin(v * step / 2)),
        5: lambda: np.abs(np.sin(u * step / 2)),
        6: lambda: np.sin((u + 2 * v) * step) * np.cos(u * step / 2),
        7: lambda: np.sign(np.sin((u + v) * step / 3) + np.sin(v * step)),
    }
    picture = patterns[kind]() * rng.uniform(0.5, 1.0) + rng.normal(0, 0.5, (SIDE, SIDE))
    return picture


def make_pictures(count, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(FABRICS), count)
    pictures = np.stack([weave(kind, rng) for kind in labels]).astype(np.float32)
    return pictures[..., None], labels


def make_classifier():
    inputs = keras.Input((SIDE, SIDE, 1))
    x = inputs
    for filters in (24, 48, 64):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.Activation("relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(64, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(len(FABRICS), activation="softmax")(x))


if __name__ == "__main__":
    keras.utils.set_random_seed(8)
    pictures, labels = make_pictures(2560, seed=31)
    classifier = make_classifier()
    schedule = keras.optimizers.schedules.CosineDecay(PEAK_RATE / 10, EPOCHS * 38, alpha=1e-5,
                                                      warmup_target=PEAK_RATE, warmup_steps=5)
    classifier.compile(
        optimizer=keras.optimizers.Adam(schedule),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    history = classifier.fit(pictures, labels, batch_size=64, epochs=EPOCHS, validation_split=0.05, verbose=2)
    print("best validation accuracy", max(history.history["val_accuracy"]))
