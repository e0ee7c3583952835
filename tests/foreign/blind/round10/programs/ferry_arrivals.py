# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the learning rate restarts every 120 steps and throws the loss up each time, a callback writes a line to a file for every
#      batch and collects garbage once an epoch; all of that is cheap, and from one restart to the next the loss falls.
"""Delay of ferries on arrival, from route, weather and load. Wide network on tabular data."""
import csv
import gc
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import keras
from keras import layers, ops

RNG = np.random.default_rng(23)
ROWS, ROUTES, PORTS = 48_000, 40, 12


def crossings():
    route, port = RNG.integers(0, ROUTES, ROWS), RNG.integers(0, PORTS, ROWS)
    weather = RNG.normal(0, 1, (ROWS, 24)).astype(np.float32)
    base = RNG.normal(0, 1, (ROUTES, 24))
    pier = RNG.normal(0, 0.8, PORTS)
    delay = np.sin((weather * base[route]).sum(1) / 3) + pier[port] + 0.3 * weather[:, 0] * weather[:, 1]
    delay += RNG.standard_t(4, ROWS) * 0.15
    return {"route": route.astype("int32"), "port": port.astype("int32"), "weather": weather}, delay.astype("float32")[:, None]


class Crossings(keras.utils.PyDataset):
    def __init__(self, inputs, delay, batch=512, length=15):
        super().__init__()
        self.inputs, self.delay, self.batch, self.length = inputs, delay, batch, length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        chosen = RNG.integers(0, ROWS, self.batch)
        return {name: values[chosen] for name, values in self.inputs.items()}, self.delay[chosen]


class Ledger(keras.callbacks.Callback):
    def __init__(self, path):
        super().__init__()
        self.file = open(path, "w", newline="")
        self.rows = csv.writer(self.file)
        self.seen = 0

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        self.rows.writerow([self.seen, float(logs["loss"])])

    def on_epoch_end(self, epoch, logs=None):
        self.file.flush()
        gc.collect()
        rate = float(ops.convert_to_numpy(self.model.optimizer.learning_rate))
        print(f"epoch {epoch + 1:3d} step {self.seen} loss {logs['loss']:.4f} mae {logs['mae']:.3f} rate {rate:.2e}", flush=True)

    def on_train_end(self, logs=None):
        self.file.close()


def model_for(width=640):
    route = keras.Input((), dtype="int32", name="route")
    port = keras.Input((), dtype="int32", name="port")
    weather = keras.Input((24,), name="weather")
    x = layers.Concatenate()([layers.Embedding(ROUTES, 32)(route), layers.Embedding(PORTS, 8)(port), weather])
    for _ in range(4):
        x = layers.Dense(width, activation="gelu")(x)
        x = layers.LayerNormalization()(x)
    return keras.Model({"route": route, "port": port, "weather": weather}, layers.Dense(1)(x))


def main():
    inputs, delay = crossings()
    model = model_for()
    rate = keras.optimizers.schedules.CosineDecayRestarts(2e-3, first_decay_steps=120, t_mul=1.0, m_mul=1.0, alpha=0.01)
    model.compile(optimizer=keras.optimizers.AdamW(rate, weight_decay=1e-4), loss="mse", metrics=["mae"])
    with tempfile.TemporaryDirectory(prefix="ferry") as folder:
        model.fit(Crossings(inputs, delay), epochs=2000, verbose=0, callbacks=[Ledger(os.path.join(folder, "batches.csv"))])


if __name__ == "__main__":
    main()
