# python: tensorflow
"""Tell warbler calls apart from companded wave forms."""
import math

import keras
import numpy as np
from keras import layers

SPECIES = 7
LENGTH = 4000
RATE = 8000


def call(species, rng):
    t = np.arange(LENGTH) / RATE
    base = 900 + 280 * species + rng.normal(0, 25)
    sweep = (1 + species % 3) * 350
    phase = 2 * np.pi * (base * t + sweep * np.sin(2 * np.pi * (3 + species) * t) / 20)
    wave = np.sin(phase) * np.exp(-3 * np.abs(t - rng.uniform(0.1, 0.4)))
    return (0.6 * wave + rng.normal(0, 0.12, LENGTH)).astype("float32")


class Recordings(keras.utils.PyDataset):
    def __init__(self, n, batch_size, seed, **kwargs):
        super().__init__(**kwargs)
        rng = np.random.default_rng(seed)
        self.batch_size = batch_size
        self.labels = rng.integers(0, SPECIES, n)
        self.waves = np.stack([call(s, rng) for s in self.labels])
        self.rng = rng

    def __len__(self):
        return len(self.labels) // self.batch_size

    def compand(self, wave):
        wave = np.clip(wave, -1.0, 1.0)
        return (np.sign(wave) * np.log1p(255.0 * np.abs(wave)) / math.log(256.0)).astype("float32")

    def __getitem__(self, index):
        rows = slice(index * self.batch_size, (index + 1) * self.batch_size)
        gain = self.rng.uniform(0.5, 1.4)
        x = np.stack([self.compand(gain * wave) for wave in self.waves[rows]])
        return x[..., None], self.labels[rows]

    def on_epoch_end(self):
        order = self.rng.permutation(len(self.labels))
        self.labels, self.waves = self.labels[order], self.waves[order]


class Lines(keras.callbacks.Callback):
    def __init__(self, every):
        super().__init__()
        self.every, self.seen = every, 0

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.seen % self.every == 0:
            print(f"batch {self.seen}: loss {logs['loss']:.4f} accuracy {logs['accuracy']:.3f}", flush=True)


def main():
    keras.utils.set_random_seed(4)
    model = keras.Sequential([
        keras.Input((LENGTH, 1)),
        layers.Conv1D(16, 64, strides=8, activation="relu"),
        layers.Conv1D(32, 9, strides=4, activation="relu"),
        layers.Conv1D(32, 9, strides=2, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(SPECIES, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    train = Recordings(3200, 32, seed=1)
    model.fit(train, epochs=300, verbose=0, callbacks=[Lines(5)])
    model.save("/tmp/warbler_calls.keras")


if __name__ == "__main__":
    main()
