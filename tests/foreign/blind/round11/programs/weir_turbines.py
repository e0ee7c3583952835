# python: tensorflow
# expected: slow-callback [also accepted: hot-line]
# verdict: slow
# seconds: 30
# where: np.savez_compressed
# Why: a callback compresses all weights into a file after every batch; once an epoch would do.
"""Remaining bearing life of weir turbines from vibration features."""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import keras
from keras import layers


class WeightDiary(keras.callbacks.Callback):
    """Keeps the latest weights on disk for the drift dashboard."""

    def __init__(self, folder):
        super().__init__()
        self.path = os.path.join(folder, "latest.npz")

    def on_train_batch_end(self, batch, logs=None):
        arrays = {f"w{i}": w for i, w in enumerate(self.model.get_weights())}
        np.savez_compressed(self.path, **arrays)


def vibration_table(n=16000, width=96, seed=4):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, width)).astype("float32")
    mix = rng.normal(size=(width, 6)).astype("float32") / np.sqrt(width)
    h = np.tanh(x @ mix * 2)
    y = h[:, 0] * h[:, 1] + 0.7 * h[:, 2] - 0.4 * h[:, 3] * h[:, 4] + 0.05 * rng.normal(size=n)
    return x, y.astype("float32")[:, None]


def build(width):
    inp = keras.Input((width,))
    z = inp
    for units in (512, 384, 256):
        z = layers.Dense(units)(z)
        z = layers.LayerNormalization()(z)
        z = layers.Activation("gelu")(z)
    out = layers.Dense(1)(z)
    return keras.Model(inp, out)


def main():
    folder = tempfile.mkdtemp(prefix="weir_")
    x, y = vibration_table()
    split = int(0.9 * len(x))
    model = build(x.shape[1])
    model.compile(optimizer=keras.optimizers.AdamW(5e-4), loss="mse", metrics=["mae"])
    model.fit(
        x[:split], y[:split],
        validation_data=(x[split:], y[split:]),
        batch_size=128, epochs=400, verbose=1,
        callbacks=[WeightDiary(folder), keras.callbacks.ReduceLROnPlateau(patience=12)],
    )
    model.save(os.path.join(folder, "turbine.keras"))


if __name__ == "__main__":
    main()
