# python: tensorflow
# expected: input-bound [also accepted: sequence-on-main-thread, hot-line]
# verdict: slow
# seconds: 35
# where: self.archive["images"]
# Why: np.load of an .npz is lazy: every access of a member unpacks the whole compressed array again, so each batch of 32 leaves
# costs the decompression of all of them, and the small network waits.
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SPECIES = 12
SIZE = 72


def draw_leaves(count, rng):
    labels = rng.integers(0, SPECIES, count)
    axis = np.linspace(-1.0, 1.0, SIZE, dtype=np.float32)
    yy, xx = np.meshgrid(axis, axis, indexing="ij")
    tint = np.array([90, 200, 80], dtype=np.float32)
    images = np.empty((count, SIZE, SIZE, 3), dtype=np.uint8)
    for i, kind in enumerate(labels):
        blade = np.exp(-3.0 * ((xx / (0.25 + 0.05 * kind)) ** 2 + yy ** 2))
        veins = 0.6 + 0.4 * np.sin((kind + 3) * 3.0 * yy + rng.uniform(0, 6))
        plane = blade * veins + 0.04 * rng.standard_normal((SIZE, SIZE), dtype=np.float32)
        images[i] = np.clip(plane[..., None] * tint + 30, 0, 255)
    return images, labels.astype(np.int32)


class LeafPages(keras.utils.PyDataset):
    """Pages of the herbarium, stored as one .npz file."""

    def __init__(self, path, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.archive = dict(np.load(path))
        self.batch_size = batch_size
        self.order = np.arange(len(self.archive["labels"]))
        self.rng = np.random.default_rng(3)

    def __len__(self):
        return len(self.order) // self.batch_size

    def __getitem__(self, index):
        rows = self.order[index * self.batch_size:(index + 1) * self.batch_size]
        images = self.archive["images"][rows].astype("float32") / 255.0
        labels = self.archive["labels"][rows]
        flip = self.rng.random(len(rows)) < 0.5
        images[flip] = images[flip, :, ::-1]
        return images, labels

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


def build_model():
    return keras.Sequential([
        keras.Input((SIZE, SIZE, 3)),
        layers.Conv2D(12, 5, strides=2, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(24, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(SPECIES, activation="softmax"),
    ])


def main():
    keras.utils.set_random_seed(11)
    folder = tempfile.mkdtemp(prefix="herbarium_")
    path = os.path.join(folder, "pages.npz")
    images, labels = draw_leaves(2600, np.random.default_rng(0))
    np.savez_compressed(path, images=images, labels=labels)
    del images, labels

    model = build_model()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(LeafPages(path, 32), epochs=300)
    model.save(os.path.join(folder, "leaves.keras"))


if __name__ == "__main__":
    main()
