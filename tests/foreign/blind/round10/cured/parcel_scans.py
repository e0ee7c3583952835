# python: tensorflow
"""Predict the delivery delay of parcels from their chain of depot scans."""
import gc
import os
import random

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import keras
from keras import layers

DEPOTS = 60
HOPS = 8


class Scan:
    def __init__(self, depot, hour, flags):
        self.depot = depot
        self.hour = hour
        self.flags = flags


class Parcel:
    def __init__(self, number, rnd):
        self.number = number
        hour = rnd.random() * 24
        self.scans = []
        for _ in range(HOPS):
            hour += rnd.random() * 9
            self.scans.append(Scan(rnd.randrange(DEPOTS), hour, [rnd.random() < 0.05, rnd.random() < 0.2]))
        self.delay = sum(2.5 * s.flags[0] + 0.8 * s.flags[1] for s in self.scans) + 0.02 * hour + rnd.gauss(0, 0.3)


def to_arrays(parcels):
    depots = np.array([[s.depot for s in p.scans] for p in parcels], np.int32)
    rest = np.array([[[s.hour / 48, float(s.flags[0]), float(s.flags[1])] for s in p.scans] for p in parcels], np.float32)
    return depots, rest, np.array([p.delay for p in parcels], np.float32)


class Housekeeping(keras.callbacks.Callback):
    """Keeps the footprint of the long nightly job low."""

    def on_epoch_end(self, epoch, logs=None):
        gc.collect()


def build():
    depot = keras.Input((HOPS,), dtype="int32")
    rest = keras.Input((HOPS, 3))
    x = layers.Concatenate()([layers.Embedding(DEPOTS, 24)(depot), rest])
    x = layers.Conv1D(96, 3, padding="same", activation="relu")(x)
    x = layers.Conv1D(96, 3, padding="same", activation="relu")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(128, activation="relu")(x)
    return keras.Model([depot, rest], layers.Dense(1)(x))


def main():
    rnd = random.Random(7)
    parcels = [Parcel(n, rnd) for n in range(45_000)]
    depots, rest, delay = to_arrays(parcels)
    print(f"{len(parcels)} parcels, {len(parcels) * HOPS} scans, mean delay {delay.mean():.2f} h", flush=True)

    model = build()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="huber", metrics=["mae"])
    model.fit([depots, rest], delay, batch_size=256, epochs=40, verbose=1, callbacks=[Housekeeping()])

    guess = model.predict([depots, rest], batch_size=1024, verbose=0)[:, 0]
    for worst in np.argsort(np.abs(guess - delay))[-10:]:
        late = parcels[worst]
        print(f"parcel {late.number}: {late.delay:.1f} h via {[s.depot for s in late.scans]}", flush=True)


if __name__ == "__main__":
    main()
