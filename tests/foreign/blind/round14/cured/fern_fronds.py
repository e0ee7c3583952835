# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the twin without the fault.
"""Tell fern species apart by the texture of their fronds: local binary patterns beside the grey picture, then a small CNN."""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIZE = 40
SPECIES = 6
RING = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]


def draw_fronds(count, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, SPECIES, count)
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    pictures = np.empty((count, SIZE, SIZE), np.float32)
    for i, label in enumerate(labels):
        angle = rng.uniform(0, np.pi)
        along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
        leaflets = np.sin(2 * np.pi * (5 + 2 * label) * along + 6 * np.abs(across - rng.uniform(-0.2, 0.2)))
        pictures[i] = 0.5 + 0.25 * leaflets * np.exp(-3 * across**2) + rng.normal(0, 0.18, (SIZE, SIZE))
    return pictures.clip(0, 1), labels.astype("int32")


def texture_codes(picture):
    padded = np.pad(picture, 1, mode="edge")
    codes = np.zeros((SIZE, SIZE), np.float32)
    for bit, (down, right) in enumerate(RING):
        codes += (padded[1 + down:1 + down + SIZE, 1 + right:1 + right + SIZE] >= picture) * np.float32(1 << bit)
    return codes / 255


class FrondSequence(keras.utils.PyDataset):
    def __init__(self, pictures, labels, batch=32, mirror=False, **kwargs):
        super().__init__(**kwargs)
        self.pictures, self.labels, self.batch, self.mirror = pictures, labels, batch, mirror
        self.order = np.arange(len(pictures))
        self.rng = np.random.default_rng(3)

    def __len__(self):
        return len(self.pictures) // self.batch

    def __getitem__(self, index):
        chosen = self.order[index * self.batch:(index + 1) * self.batch]
        pictures = self.pictures[chosen]
        if self.mirror and self.rng.random() < 0.5:
            pictures = pictures[:, :, ::-1]
        codes = np.stack([texture_codes(picture) for picture in pictures])
        return np.stack([pictures, codes], axis=-1), self.labels[chosen]

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


def build():
    model = keras.Sequential([
        keras.Input((SIZE, SIZE, 2)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dropout(0.2),
        layers.Dense(SPECIES),
    ])
    model.compile(keras.optimizers.Adam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


if __name__ == "__main__":
    keras.utils.set_random_seed(4)
    print("tensorflow", tf.__version__, "cores", os.cpu_count())
    pictures, labels = draw_fronds(3200, 1)
    train = FrondSequence(pictures[:2880], labels[:2880], mirror=True)
    held = FrondSequence(pictures[2880:], labels[2880:])
    model = build()
    model.summary()
    model.fit(train, validation_data=held, validation_freq=5, epochs=200)
