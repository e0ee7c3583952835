# python: tensorflow
# expected: slow-callback
# verdict: slow
# seconds: 30
# where: save_freq=1
# Why: save_freq counts batches, not epochs: the whole model is written to disk after every batch.
"""Finds failing pumps from vibration spectra; Keras fit with checkpoints."""
import argparse
import os
import tempfile

import numpy as np
from tensorflow import keras


def spectra(count, bins, seed):
    rng = np.random.default_rng(seed)
    base = rng.gamma(2.0, 0.5, (count, bins)).astype("float32")
    state = rng.integers(0, 4, count)
    places = [(20, 40), (90, 130), (200, 230), (300, 380)]
    for kind, (low, high) in enumerate(places):
        rows = state == kind
        base[rows, low:high] += rng.normal(0.35, 0.2, (rows.sum(), high - low)).astype("float32")
    return np.log1p(np.maximum(base, 0)), state.astype("int32")


def build(bins):
    inputs = keras.Input((bins,))
    x = keras.layers.Dense(512, activation="relu")(inputs)
    x = keras.layers.Dropout(0.3)(x)
    x = keras.layers.Dense(512, activation="relu")(x)
    x = keras.layers.Dropout(0.3)(x)
    x = keras.layers.Dense(128, activation="relu")(x)
    outputs = keras.layers.Dense(4)(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(3e-4),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--bins", type=int, default=512)
    parser.add_argument("--out", default=os.path.join(tempfile.gettempdir(), "pump_faults"))
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)

    x, y = spectra(40000, args.bins, seed=1)
    x_val, y_val = spectra(2000, args.bins, seed=2)
    model = build(args.bins)
    keep = keras.callbacks.ModelCheckpoint(
        os.path.join(args.out, "latest.keras"),
        save_freq=1,
    )
    slower = keras.callbacks.ReduceLROnPlateau(patience=5, factor=0.5)
    model.fit(
        x, y,
        batch_size=args.batch_size,
        epochs=args.epochs,
        validation_data=(x_val, y_val),
        callbacks=[keep, slower],
    )


if __name__ == "__main__":
    main()
