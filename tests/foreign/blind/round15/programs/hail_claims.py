# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: claims have heavy tails and batches are small, so the loss jumps up and down; but it falls, and slicing arrays in a PyDataset
# on the main thread takes well under a hundredth of a step.
"""Expected hail claims per district from radar sequences: a Keras model fed by a PyDataset."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np

STORMS = 4_000
SCANS = 72
FIELDS = 10
BATCH = 40
EPOCHS = 100


def make_storms(rng):
    """Reflectivity grows and decays; the claim depends on its peak, with a long tail."""
    clock = np.arange(SCANS)[None, :, None]
    peak = rng.gamma(2.0, 0.6, (STORMS, 1, 1))
    when = rng.uniform(12, 60, (STORMS, 1, 1))
    width = rng.uniform(4, 14, (STORMS, 1, 1))
    shape = peak * np.exp(-((clock - when) / width) ** 2)
    share = rng.uniform(0.2, 1.0, FIELDS)
    scans = shape * share + 0.3 * rng.standard_normal((STORMS, SCANS, FIELDS))
    claim = 1.8 * peak[:, 0, 0] + 0.08 * width[:, 0, 0] + 0.7 * rng.standard_t(3.0, STORMS)
    return scans.astype("float32"), claim.astype("float32")


class Storms(keras.utils.PyDataset):
    def __init__(self, scans, claims, batch, rng, **kwargs):
        super().__init__(**kwargs)
        self.scans, self.claims, self.batch, self.rng = scans, claims, batch, rng
        self.order = rng.permutation(len(scans))

    def __len__(self):
        return len(self.scans) // self.batch

    def __getitem__(self, index):
        rows = self.order[index * self.batch:(index + 1) * self.batch]
        return self.scans[rows], self.claims[rows, None]

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


def build():
    inputs = keras.Input((SCANS, FIELDS))
    x = keras.layers.Conv1D(64, 7, padding="same", activation="relu")(inputs)
    x = keras.layers.Conv1D(96, 7, padding="same", activation="relu")(x)
    x = keras.layers.MaxPooling1D(2)(x)
    x = keras.layers.Conv1D(128, 5, padding="same", activation="relu")(x)
    x = keras.layers.Conv1D(128, 5, padding="same", activation="relu")(x)
    x = keras.layers.GlobalMaxPooling1D()(x)
    x = keras.layers.Dropout(0.3)(x)
    x = keras.layers.Dense(64, activation="relu")(x)
    return keras.Model(inputs, keras.layers.Dense(1)(x), name="hail")


def main():
    keras.utils.set_random_seed(17)
    rng = np.random.default_rng(17)
    scans, claims = make_storms(rng)
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(2e-4), loss="mse", metrics=["mae"])
    model.summary()
    print(f"{STORMS} storms, mean claim {claims.mean():.2f}, largest {claims.max():.1f}", flush=True)
    model.fit(Storms(scans, claims, BATCH, rng), epochs=EPOCHS, shuffle=False)
    model.save("hail.keras")


if __name__ == "__main__":
    main()
