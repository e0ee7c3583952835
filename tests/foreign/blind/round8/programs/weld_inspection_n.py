# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: a PyDataset without workers whose items are slices of an array, one line per epoch, a checkpoint per epoch and a
# validation every third: all of it is small beside the convolutions.
import os
import tempfile

import numpy as np
import keras
from keras import layers

SIDE = 64


def weld_seams(count, seed):
    rng = np.random.default_rng(seed)
    rows = np.arange(SIDE, dtype=np.float32)[:, None]
    seam = np.exp(-((rows - SIDE / 2) / 7) ** 2)[None] * np.ones((count, 1, SIDE), dtype=np.float32)
    seam *= 0.8 + 0.2 * np.sin(np.arange(SIDE) / 2.5 + rng.uniform(0, 6, (count, 1, 1)))
    faulty = rng.random(count) < 0.4
    for i in np.flatnonzero(faulty):
        r, c = rng.integers(24, 36), rng.integers(4, SIDE - 8)
        seam[i, r:r + 4, c:c + 4] *= 0.2
    seam += rng.normal(0, 0.12, seam.shape)
    return (255 * np.clip(seam, 0, 1)).astype(np.uint8)[..., None], faulty.astype(np.float32)[:, None]


class Seams(keras.utils.PyDataset):
    def __init__(self, images, labels, batch, shuffle):
        super().__init__(workers=1)
        self.images, self.labels, self.batch, self.shuffle = images, labels, batch, shuffle
        self.order = np.arange(len(images))

    def __len__(self):
        return len(self.images) // self.batch

    def __getitem__(self, k):
        rows = self.order[k * self.batch:(k + 1) * self.batch]
        return self.images[rows], self.labels[rows]

    def on_epoch_end(self):
        if self.shuffle:
            np.random.shuffle(self.order)


def residual(x, width):
    y = layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
    y = layers.Activation("relu")(layers.BatchNormalization()(y))
    y = layers.BatchNormalization()(layers.Conv2D(width, 3, padding="same", use_bias=False)(y))
    return layers.Activation("relu")(layers.Add()([layers.Conv2D(width, 1)(x), y]))


inputs = keras.Input((SIDE, SIDE, 1))
x = layers.Rescaling(1 / 255)(inputs)
x = layers.Conv2D(16, 5, strides=2, padding="same", activation="relu")(x)
x = residual(x, 32)
x = layers.MaxPooling2D()(x)
x = residual(x, 64)
x = layers.GlobalAveragePooling2D()(x)
model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(x))
model.compile(optimizer=keras.optimizers.SGD(0.02, momentum=0.9), loss="binary_crossentropy", metrics=["accuracy"])

folder = tempfile.mkdtemp(prefix="welds_")
train, check = Seams(*weld_seams(1280, 0), 32, True), Seams(*weld_seams(256, 1), 32, False)
model.fit(
    train,
    validation_data=check,
    validation_freq=3,
    epochs=300,
    verbose=2,
    callbacks=[keras.callbacks.ModelCheckpoint(os.path.join(folder, "weld.weights.h5"), save_weights_only=True)],
)
