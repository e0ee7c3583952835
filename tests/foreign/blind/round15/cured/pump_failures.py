"""Will a water pump fail within a week? Binary classification of hourly sensor readings."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

ROWS = 60_000
HOURS = 48
SENSORS = 6
BATCH = 128
EPOCHS = 60
# vibration in mm/s, bearing in K, outlet pressure in Pa, flow in l/min, speed in rpm, current in A
TYPICAL = np.array([3.1, 331.0, 2.05e5, 455.0, 1478.0, 28.0], "float32")
SPREAD = np.array([0.8, 4.0, 6.0e3, 21.0, 9.0, 2.2], "float32")


def make_readings(rng):
    """Worn bearings shake more and run hotter; the label also depends on a mix of the two."""
    wear = rng.uniform(0.0, 1.0, (ROWS, 1, 1)).astype("float32")
    load = rng.uniform(0.3, 1.0, (ROWS, 1, 1)).astype("float32")
    noise = rng.standard_normal((ROWS, HOURS, SENSORS), dtype="float32")
    gain = np.linspace(0.2, 1.2, SENSORS, dtype="float32")
    ramp = np.linspace(0.0, 1.0, HOURS, dtype="float32")[None, :, None]
    readings = noise * (0.6 + wear) + gain * (load + 1.5 * wear * ramp)
    risk = 6.0 * wear[:, 0, 0] * load[:, 0, 0] - 2.2
    failed = rng.uniform(size=ROWS) < 1.0 / (1.0 + np.exp(-4.0 * risk))
    readings = TYPICAL + SPREAD * readings
    readings = (readings - readings.mean((0, 1), dtype="float64")) / readings.std((0, 1), dtype="float64")
    return readings.astype("float32"), failed.astype("float32")


def build():
    inputs = keras.Input((HOURS, SENSORS))
    x = keras.layers.Conv1D(48, 5, padding="same", activation="relu")(inputs)
    x = keras.layers.Conv1D(48, 5, padding="same", activation="relu")(x)
    x = keras.layers.MaxPooling1D(2)(x)
    x = keras.layers.Conv1D(96, 3, padding="same", activation="relu")(x)
    x = keras.layers.GlobalAveragePooling1D()(x)
    x = keras.layers.Dense(64, activation="relu")(x)
    x = keras.layers.Dropout(0.3)(x)
    outputs = keras.layers.Dense(1, activation="sigmoid")(x)
    return keras.Model(inputs, outputs, name="pump")


def main():
    keras.utils.set_random_seed(3)
    readings, failed = make_readings(np.random.default_rng(3))
    print(f"{ROWS} pumps, {failed.mean():.1%} failed", flush=True)
    held = ROWS // 20
    train = (tf.data.Dataset.from_tensor_slices((readings[held:], failed[held:]))
             .shuffle(10_000).batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE))
    test = tf.data.Dataset.from_tensor_slices((readings[:held], failed[:held])).batch(512)
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
    model.summary()
    model.fit(train, validation_data=test, epochs=EPOCHS)
    model.save("pump.keras")


if __name__ == "__main__":
    main()
