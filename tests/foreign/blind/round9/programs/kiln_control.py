# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: a hand-written loop with train_on_batch, the loss read at every step, notes to a CSV file, a test now and then; on the CPU
# reading the loss costs nothing and the network is the work.
"""Learns what a cement kiln does next from its last readings; train_on_batch in a loop of its own."""
import csv
import pathlib
import sys
import tempfile

import numpy as np
from tensorflow import keras

SENSORS, PAST, BATCH = 24, 40, 256


class Kiln:
    """A linear system of coupled sensors with a kick now and then."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        mix = np.random.default_rng(99).normal(size=(SENSORS, SENSORS))
        self.mix = (0.97 * np.linalg.qr(mix)[0]).astype("float32")

    def record(self, steps):
        state = self.rng.normal(size=SENSORS).astype("float32")
        rows = np.empty((steps, SENSORS), "float32")
        noise = self.rng.normal(0, 0.3, (steps, SENSORS)).astype("float32")
        for i in range(steps):
            state = self.mix @ state + noise[i]
            rows[i] = state
        return rows


def windows(rows, starts):
    index = starts[:, None] + np.arange(PAST + 1)
    cut = rows[index]
    return cut[:, :-1].reshape(len(starts), -1), cut[:, -1]


def build():
    model = keras.Sequential([
        keras.Input((SENSORS * PAST,)),
        keras.layers.Dense(1024, activation="gelu"),
        keras.layers.Dense(1024, activation="gelu"),
        keras.layers.Dense(SENSORS),
    ])
    model.compile(optimizer=keras.optimizers.AdamW(5e-4), loss="mse")
    return model


def main():
    past, test = Kiln(1).record(60000), Kiln(2).record(4000)
    model = build()
    rng = np.random.default_rng(4)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="kiln-"))
    test_x, test_y = windows(test, rng.integers(0, len(test) - PAST, 512))
    with open(folder / "notes.csv", "w", newline="") as notes:
        writer = csv.writer(notes)
        for epoch in range(1, 1001):
            model.reset_metrics()
            for step in range(1, 101):
                x, y = windows(past, rng.integers(0, len(past) - PAST - 1, BATCH))
                loss = float(model.train_on_batch(x, y))
                writer.writerow([epoch, step, loss])
                if step % 5 == 0:
                    sys.stdout.write(f"\repoch {epoch} [{'#' * (step // 5):20s}] {step}/100 loss {loss:.4f}")
                    sys.stdout.flush()
            notes.flush()
            test_loss = float(model.test_on_batch(test_x, test_y))
            print(f"\nepoch {epoch}: test loss {test_loss:.4f}")
            if epoch % 10 == 0:
                model.save_weights(folder / "kiln.weights.h5")


if __name__ == "__main__":
    main()
