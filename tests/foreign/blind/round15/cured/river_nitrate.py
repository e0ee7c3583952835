"""Forecast nitrate in a river from two weeks of gauges; afterwards draw the way that the weights went."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

READINGS = 168
GAUGES = 24
ROWS = 7_000
BATCH = 256
EPOCHS = 200


def make_rows(rng):
    """Rain at every gauge each three hours; nitrate follows the season and what the last days washed out."""
    rain = rng.gamma(0.7, 1.0, (ROWS, READINGS, GAUGES)).astype("float32")
    season = rng.uniform(0.0, 2.0 * np.pi, (ROWS, 1)).astype("float32")
    reach = np.exp(-np.arange(READINGS)[::-1] / 30.0).astype("float32")
    wash = (rain.mean(2) * reach).sum(1, keepdims=True)
    nitrate = 4.0 + 1.5 * np.sin(season) + 1.2 * np.sqrt(wash) - 0.1 * wash
    nitrate += 0.1 * rng.standard_normal(nitrate.shape)
    around = np.repeat(np.sin(season)[:, None, :], READINGS, 1)
    features = np.concatenate([np.log1p(rain), around], 2)
    return features.astype("float32"), ((nitrate - nitrate.mean()) / nitrate.std()).astype("float32")


class WeightPath(keras.callbacks.Callback):
    """Where the weights went, projected to two random directions when training ends."""

    def __init__(self):
        super().__init__()
        self.path = []
        self.directions = None

    def on_train_batch_end(self, batch, logs=None):
        weights = np.concatenate([w.ravel() for w in self.model.get_weights()])
        if self.directions is None:
            self.directions = np.random.default_rng(0).standard_normal((len(weights), 2), dtype="float32")
        self.path.append(weights @ self.directions)

    def on_train_end(self, logs=None):
        points = np.stack(self.path)
        np.savetxt("weight_path.csv", points, delimiter=",")
        print(f"wrote weight_path.csv with {len(points)} points")


def build():
    return keras.Sequential([
        keras.layers.Input((READINGS, GAUGES + 1)),
        keras.layers.Conv1D(64, 7, padding="causal", activation="relu"),
        keras.layers.Conv1D(64, 7, padding="causal", activation="relu"),
        keras.layers.Conv1D(96, 7, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1),
    ], name="nitrate")


def main():
    keras.utils.set_random_seed(8)
    features, nitrate = make_rows(np.random.default_rng(8))
    data = (tf.data.Dataset.from_tensor_slices((features, nitrate))
            .shuffle(2_000).batch(BATCH, drop_remainder=True).prefetch(2))
    model = build()
    model.compile(optimizer=keras.optimizers.SGD(0.01, momentum=0.9), loss="mse")
    model.summary()
    model.fit(data, epochs=EPOCHS, callbacks=[WeightPath()])
    model.save("nitrate.keras")


if __name__ == "__main__":
    main()
