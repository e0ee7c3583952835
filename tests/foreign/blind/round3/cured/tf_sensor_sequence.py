# python: tensorflow
# expected: sequence-on-main-thread [also accepted: input-bound, python-generator, hot-line, no-prefetch, slow-storage]
# verdict: slow
# seconds: 35
# where: np.loadtxt(
# Why: a PyDataset reads its batch out of one large CSV with skiprows: each item reads all lines before it again. People write this when the
# file "does not fit into memory"; Keras makes the items one at a time.
import math
import os
import tempfile
import numpy as np
from tensorflow import keras

ROWS, COLS, BATCH = 60000, 24, 128


def write_recording(path):
    rng = np.random.default_rng(11)
    values = rng.standard_normal((ROWS, COLS)).astype("float32")
    target = np.tanh(values[:, :8].sum(axis=1)) + 0.1 * rng.standard_normal(ROWS)
    table = np.column_stack([values, target])
    with open(path, "w") as f:
        f.write(",".join([f"ch{i}" for i in range(COLS)] + ["target"]) + "\n")
        for row in table:
            f.write(",".join(f"{v:.3f}" for v in row) + "\n")


class SensorRows(keras.utils.PyDataset):
    def __init__(self, path, rows, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.path = path
        self.rows = rows
        self.batch_size = batch_size
        self.table = np.loadtxt(path, delimiter=",", skiprows=1, dtype="float32")

    def __len__(self):
        return math.ceil(self.rows / self.batch_size)

    def __getitem__(self, idx):
        first = idx * self.batch_size
        block = self.table[first:first + self.batch_size]
        return block[:, :COLS], block[:, COLS]


class Log(keras.callbacks.Callback):
    total = 0

    def on_train_batch_end(self, batch, logs=None):
        self.total += 1
        if self.total % 25 == 0:
            print(f"step {self.total} mse {logs['loss']:.4f}", flush=True)


csv_path = os.path.join(tempfile.mkdtemp(), "recording.csv")
write_recording(csv_path)
train = SensorRows(csv_path, ROWS, BATCH)

model = keras.Sequential([
    keras.Input((COLS,)),
    keras.layers.Dense(256, activation="relu"),
    keras.layers.Dense(256, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=20, verbose=0, callbacks=[Log()])
