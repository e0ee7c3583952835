# python: tensorflow
# expected: slow-callback [also accepted: hot-line]
# verdict: slow
# seconds: 35
# where: np.savez_compressed / np.percentile / def on_train_batch_end
# Why: a monitoring callback takes percentiles of all weights and writes a compressed archive after every batch instead of every epoch; copied from a "how to look into your network" page.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tempfile

import numpy as np
import keras
from keras import layers

MELS, FRAMES, SPECIES, BATCH = 40, 64, 12, 32


class WeightMonitor(keras.callbacks.Callback):
    """Keeps the spread of every layer's weights for the plots in the thesis."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.seen = 0

    def snapshot(self):
        spread = {}
        for i, weight in enumerate(self.model.weights):
            values = np.asarray(weight)
            spread[f"{i:02d}_q"] = np.percentile(values, [1, 25, 50, 75, 99])
            spread[f"{i:02d}_w"] = values
        return spread

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        path = os.path.join(self.folder, f"spread_{self.seen % 50:02d}.npz")
        np.savez_compressed(path, **self.snapshot())


def make_calls(n):
    rng = np.random.default_rng(0)
    species = rng.integers(0, SPECIES, n)
    pitch = 3 + species * 3
    t = np.arange(FRAMES)[None, :]
    track = pitch[:, None] + 2 * np.sin(t / (4 + species[:, None]))
    bins = np.arange(MELS)[None, None, :]
    mel = np.exp(-0.5 * (bins - track[:, :, None]) ** 2) + rng.normal(0, 0.4, (n, FRAMES, MELS))
    return mel.astype("float32"), species


def build_model():
    return keras.Sequential([
        keras.Input((FRAMES, MELS)),
        layers.Conv1D(96, 5, activation="relu"),
        layers.MaxPooling1D(2),
        layers.Conv1D(128, 5, activation="relu"),
        layers.Flatten(),
        layers.Dense(96, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(SPECIES),
    ])


def main():
    calls, species = make_calls(640)
    model = build_model()
    model.compile(optimizer="adam", metrics=["accuracy"],
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    folder = tempfile.mkdtemp(prefix="birdcalls_")
    model.fit(calls, species, batch_size=BATCH, epochs=900, verbose=2,
              callbacks=[WeightMonitor(folder)])


if __name__ == "__main__":
    main()
