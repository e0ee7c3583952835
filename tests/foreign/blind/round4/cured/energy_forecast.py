import json
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np

WINDOW, HORIZON = 48, 12


def load_series(n=30000):
    rng = np.random.default_rng(5)
    t = np.arange(n)
    daily = np.sin(2 * np.pi * t / 24)
    weekly = 0.5 * np.sin(2 * np.pi * t / 168)
    load = 3 + daily + weekly + 0.2 * rng.standard_normal(n)
    temperature = 15 + 8 * np.sin(2 * np.pi * t / 8760) + rng.standard_normal(n)
    features = np.stack([load, temperature / 20, daily, weekly], axis=1)
    return features.astype(np.float32)


def windows(series):
    view = np.lib.stride_tricks.sliding_window_view(series, WINDOW + HORIZON, axis=0)
    view = view.transpose(0, 2, 1)[::2]
    return np.ascontiguousarray(view[:, :WINDOW]), np.ascontiguousarray(view[:, WINDOW:, 0])


class WeightMonitor(keras.callbacks.Callback):
    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.count = 0

    def record(self):
        entry = {}
        for weight in self.model.weights:
            values = weight.numpy().astype(float)
            counts, edges = np.histogram(values, bins=64)
            entry[weight.path] = {
                "counts": counts.tolist(),
                "edges": edges.tolist(),
                "values": values.round(5).ravel().tolist(),
            }
        with open(os.path.join(self.folder, "weights.json"), "w") as f:
            json.dump(entry, f)

    def on_train_batch_end(self, batch, logs=None):
        self.count += 1
        if self.count % 10 == 0:
            print(f"step {self.count} loss {logs['loss']:.4f}", flush=True)

    def on_epoch_end(self, epoch, logs=None):
        self.record()


def build():
    inputs = keras.Input((WINDOW, 4))
    h = keras.layers.Conv1D(96, 5, padding="causal", activation="relu")(inputs)
    h = keras.layers.Conv1D(96, 5, strides=2, activation="relu")(h)
    h = keras.layers.Flatten()(h)
    h = keras.layers.Dense(64, activation="relu")(h)
    return keras.Model(inputs, keras.layers.Dense(HORIZON)(h))


def main():
    x, y = windows(load_series())
    model = build()
    model.compile(keras.optimizers.Adam(1e-3), "mse")
    with tempfile.TemporaryDirectory() as folder:
        model.fit(x, y, batch_size=64, epochs=400, verbose=0, callbacks=[WeightMonitor(folder)])


main()
