# python: tensorflow
# expected: slow-callback
# verdict: slow
# seconds: 30
# where: save_freq=1 / ModelCheckpoint / model.fit
# Why: save_freq=1 was meant as "every epoch" but means every batch: the whole model is written after each step.
"""Coffee leaves: rust, miner, phoma or healthy, from 32x32 patches."""
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import keras
import numpy as np
from keras import layers

LABELS = ("healthy", "rust", "miner", "phoma")


def patches(n, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, len(LABELS), n)
    x = rng.normal(0.4, 0.15, (n, 32, 32, 3)).astype("float32")
    x[..., 1] += 0.2
    row, col = rng.integers(4, 20, (2, n))
    for k in range(n):
        if label[k]:
            spot = x[k, row[k]:row[k] + 8, col[k]:col[k] + 8]
            spot[..., label[k] - 1] += 0.25
    return np.clip(x, 0, 1), label.astype("int32")


class LeafTrainer:
    def __init__(self, folder, width=512):
        self.folder = folder
        self.model = keras.Sequential([
            keras.Input((32, 32, 3)),
            layers.RandomFlip(),
            layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(width, activation="relu"),
            layers.Dropout(0.3),
            layers.Dense(width, activation="relu"),
            layers.Dense(len(LABELS)),
        ])
        self.model.compile(
            keras.optimizers.Adam(5e-4),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"])

    def callbacks(self):
        return [
            keras.callbacks.ModelCheckpoint(os.path.join(self.folder, "leaf.keras"), save_freq="epoch"),
            keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=5),
            keras.callbacks.TerminateOnNaN(),
        ]

    def train(self, x, y, epochs=400):
        return self.model.fit(x, y, batch_size=64, epochs=epochs, callbacks=self.callbacks())


if __name__ == "__main__":
    x, y = patches(24_000, 5)
    print("patches", x.shape, "per class", np.bincount(y).tolist(), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        LeafTrainer(folder).train(x, y)
