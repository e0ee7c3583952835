# python: tensorflow
# expected: loss-output-mismatch
# verdict: slow
# seconds: 30
# where: activation="sigmoid", name="discharge"
# Why: discharge is 15 to 65 litres a second, but the last layer is a sigmoid: it cannot say more than 1, so the error stays.
"""Forecast the discharge of a karst spring from six weeks of rain, temperature and snow."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

DAYS = 42
EPOCHS = 600


def make_years(years, seed=0):
    rng = np.random.default_rng(seed)
    n = years * 365
    t = np.arange(n)
    rain = rng.gamma(0.4, 9.0, n) * (rng.random(n) < 0.45)
    temp = 9 + 9 * np.sin(2 * np.pi * (t - 110) / 365) + rng.normal(0, 2.5, n)
    snow = np.zeros(n)
    store = 40.0
    flow = np.full(n, 32.0)
    for i in range(1, n):
        falls = rain[i] if temp[i] < 1 else 0.0
        melt = min(snow[i - 1], max(0.0, 2.2 * temp[i]))
        snow[i] = snow[i - 1] + falls - melt
        store = 0.95 * store + 1.1 * (rain[i] - falls + melt)
        flow[i] = 14 + 0.45 * store
    drivers = np.stack([rain, temp, snow], 1)
    return drivers.astype("float32"), (flow + rng.normal(0, 0.8, n)).astype("float32")


def windows(drivers, flow, shuffle):
    scaled = (drivers - drivers.mean(0)) / (drivers.std(0) + 1e-6)
    ds = keras.utils.timeseries_dataset_from_array(
        scaled[:-1], flow[DAYS:], sequence_length=DAYS, batch_size=64, shuffle=shuffle, seed=2)
    return ds.cache().prefetch(tf.data.AUTOTUNE)


def build():
    inputs = keras.Input((DAYS, 3))
    x = layers.Conv1D(32, 5, padding="causal", activation="relu")(inputs)
    x = layers.Conv1D(32, 5, padding="causal", dilation_rate=4, activation="relu")(x)
    x = layers.GRU(48)(x)
    x = layers.Dense(32, activation="relu")(x)
    out = layers.Dense(1, activation="sigmoid", name="discharge")(x)
    return keras.Model(inputs, out)


def main():
    keras.utils.set_random_seed(3)
    drivers, flow = make_years(9)
    cut = 7 * 365
    train = windows(drivers[:cut], flow[:cut], shuffle=True)
    test = windows(drivers[cut:], flow[cut:], shuffle=False)
    print(f"discharge: mean {flow.mean():.1f}, from {flow.min():.1f} to {flow.max():.1f} l/s")
    model = build()
    model.compile(keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
    model.fit(train, validation_data=test, epochs=EPOCHS, verbose=2,
              callbacks=[keras.callbacks.TerminateOnNaN()])
    model.save("/tmp/spring_flow.keras")


if __name__ == "__main__":
    main()
