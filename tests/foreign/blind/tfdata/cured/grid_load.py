import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

FIELDS = 24 + 3
path = os.path.join(tempfile.gettempdir(), "grid_load.csv")


def write_history(hours=12000):
    if os.path.exists(path):
        return
    rng = np.random.default_rng(10)
    h = np.arange(hours + 24)
    load = 50 + 12 * np.sin(2 * np.pi * h / 24) + 6 * np.sin(2 * np.pi * h / 168) + rng.normal(0, 1.0, h.size)
    temp = 12 + 9 * np.sin(2 * np.pi * h / 8760) + rng.normal(0, 2, h.size)
    rows = [np.concatenate([load[i:i + 24], [temp[i + 23], i % 24, load[i + 24]]]) for i in range(hours)]
    np.savetxt(path + ".new", np.array(rows), fmt="%.3f", delimiter=",")
    os.replace(path + ".new", path)


def columns(lines):
    values = tf.stack(tf.io.decode_csv(lines, [[0.0]] * FIELDS), axis=1)
    past = (values[:, :24] - 50.0) / 12.0
    weather = (values[:, 24:25] - 12.0) / 9.0
    hour = values[:, 25:26] * (2 * np.pi / 24)
    x = tf.concat([past, weather, tf.sin(hour), tf.cos(hour)], axis=1)
    return x, (values[:, 26:] - 50.0) / 12.0


def forecaster(width=1536, depth=4):
    inp = tf.keras.Input((27,))
    x = tf.keras.layers.Dense(width, activation="gelu")(inp)
    for _ in range(depth):
        y = tf.keras.layers.LayerNormalization()(x)
        y = tf.keras.layers.Dense(width, activation="gelu")(y)
        x = tf.keras.layers.Add()([x, y])
    return tf.keras.Model(inp, tf.keras.layers.Dense(1)(x))


def main():
    tf.keras.utils.set_random_seed(1)
    write_history()
    lines = tf.data.TextLineDataset(path).shuffle(2000).repeat()
    hours = lines.batch(192, drop_remainder=True).map(columns)
    hours = hours.take(2).cache().repeat().prefetch(2)
    model = forecaster()
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-4), loss="mse", metrics=["mae"])
    print("parameters:", model.count_params())
    model.fit(hours, steps_per_epoch=62, epochs=100, verbose=1)


if __name__ == "__main__":
    main()
