# python: tensorflow
# expected: epoch-never-ends [also accepted: hidden-validation]
# verdict: stuck|slow
# seconds: 35
# where: model.fit / .repeat( / validation_data
# Why: Both data sets are repeated for ever, but only the training has steps_per_epoch: the validation after epoch 1 has no end.
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

HISTORY, AHEAD = 96, 12


def plant_output(days=700, seed=1):
    rng = np.random.default_rng(seed)
    t = np.arange(days * 24)
    sun = np.clip(np.sin((t % 24 - 6) / 12 * np.pi), 0, None)
    season = 1 + 0.4 * np.sin(2 * np.pi * t / (24 * 365))
    cloud = np.repeat(rng.beta(4, 2, days), 24)
    wind = rng.normal(size=t.size).cumsum() * 0.01
    power = sun * season * cloud + rng.normal(0, 0.03, t.size)
    return np.stack([power, sun, season, np.tanh(wind)], 1).astype("float32")


def windows(table, batch_size, shuffle):
    starts = np.arange(len(table) - HISTORY - AHEAD)
    source = tf.constant(table)

    def cut(batch):
        past = tf.gather(source, batch[:, None] + tf.range(HISTORY, dtype=tf.int64)[None])
        target = tf.gather(source[:, 0], batch[:, None] + HISTORY + tf.range(AHEAD, dtype=tf.int64)[None])
        return past, target

    ds = tf.data.Dataset.from_tensor_slices(starts.astype("int64"))
    if shuffle:
        ds = ds.shuffle(len(starts))
    ds = ds.batch(batch_size, drop_remainder=True)
    ds = ds.repeat()
    return ds.map(cut, num_parallel_calls=2).prefetch(4)


def forecaster(units=64):
    past = tf.keras.Input((HISTORY, 4))
    x = tf.keras.layers.Conv1D(units, 5, padding="causal", activation="relu")(past)
    x = tf.keras.layers.Conv1D(units, 5, padding="causal", dilation_rate=2, activation="relu")(x)
    x = tf.keras.layers.GRU(units)(x)
    return tf.keras.Model(past, tf.keras.layers.Dense(AHEAD)(x))


def main():
    table = plant_output()
    cut_at = int(len(table) * 0.85)
    train = windows(table[:cut_at], 64, shuffle=True)
    valid = windows(table[cut_at:], 64, shuffle=False)
    model = forecaster()
    model.compile(tf.keras.optimizers.Adam(1e-3), loss="mae")
    model.fit(
        train,
        epochs=50,
        steps_per_epoch=80,
        validation_data=valid,
        callbacks=[tf.keras.callbacks.ReduceLROnPlateau(patience=4), tf.keras.callbacks.EarlyStopping(patience=10)],
    )


if __name__ == "__main__":
    main()
