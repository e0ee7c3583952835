# python: tensorflow
# expected: per-pixel-python [also accepted: python-generator, sequence-on-main-thread, input-bound, hot-line, serial-map, no-prefetch]
# verdict: slow
# seconds: 35
# where: px[row, col] / for col in range / r2 = / self.vignette(
# Why: the augmentation of each image is a double Python loop over all pixels; students port it from a lecture notebook where it ran once on one picture.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import keras
from keras import layers

SIDE, BATCH = 48, 32


class MushroomBatches(keras.utils.PyDataset):
    """Shuffled batches of field photographs with a random lens vignette."""

    def __init__(self, pictures, species, **kwargs):
        super().__init__(**kwargs)
        self.pictures, self.species = pictures, species
        self.rng = np.random.default_rng(5)
        self.order = self.rng.permutation(len(pictures))

    def __len__(self):
        return len(self.pictures) // BATCH

    def vignette(self, picture, strength):
        px = picture.astype("float32") / 255.0
        centre = (SIDE - 1) / 2
        at = np.arange(SIDE, dtype="float32") - centre
        r2 = (at[:, None] ** 2 + at[None] ** 2) / centre ** 2
        return px * (1.0 - strength * r2)[..., None].astype("float32")

    def __getitem__(self, index):
        rows = self.order[index * BATCH:(index + 1) * BATCH]
        strengths = self.rng.uniform(0.0, 0.4, size=len(rows))
        x = np.stack([self.vignette(self.pictures[i], s) for i, s in zip(rows, strengths)])
        return x, self.species[rows]

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


def make_pictures(n, kinds=6):
    rng = np.random.default_rng(2)
    species = rng.integers(0, kinds, n)
    tints = rng.integers(40, 215, size=(kinds, 1, 1, 3))
    noise = rng.normal(0, 45, size=(n, SIDE, SIDE, 3))
    return np.clip(tints[species] + noise, 0, 255).astype("uint8"), species


def build_model(kinds=6):
    return keras.Sequential([
        keras.Input((SIDE, SIDE, 3)),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.Conv2D(32, 3, strides=2, activation="relu"),
        layers.Conv2D(48, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(64, activation="relu"),
        layers.Dense(kinds, activation="softmax"),
    ])


def main():
    pictures, species = make_pictures(384)
    model = build_model()
    model.compile(optimizer=keras.optimizers.Adam(1e-3),
                  loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(MushroomBatches(pictures, species), epochs=600, verbose=2)


if __name__ == "__main__":
    main()
