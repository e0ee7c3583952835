# python: tensorflow
import os
import tempfile

import numpy as np
import tensorflow as tf

STEPS = 48          # half-hour readings of one day
CHANNELS = 6


def write_station_files(folder, stations=8, days=500):
    rng = np.random.default_rng(5)
    paths = []
    for s in range(stations):
        path = os.path.join(folder, f"station_{s:02d}.tfrecord")
        with tf.io.TFRecordWriter(path) as out:
            for d in range(days):
                phase = 2 * np.pi * (d / 365.0 + s / stations)
                base = np.sin(np.linspace(0, 2 * np.pi, STEPS) + phase)
                readings = (base[:, None] + rng.normal(0, 0.3, (STEPS, CHANNELS))).astype("float32")
                rain = np.float32(readings[-12:, :2].mean() * 2 + rng.normal(0, 0.1))
                flag = b"OK" if rng.random() > 0.07 else b"SUSPECT"
                feat = {
                    "readings": tf.train.Feature(float_list=tf.train.FloatList(value=readings.ravel())),
                    "rain": tf.train.Feature(float_list=tf.train.FloatList(value=[rain])),
                    "quality": tf.train.Feature(bytes_list=tf.train.BytesList(value=[flag])),
                }
                out.write(tf.train.Example(features=tf.train.Features(feature=feat)).SerializeToString())
        paths.append(path)
    return paths


SPEC = {
    "readings": tf.io.FixedLenFeature([STEPS, CHANNELS], tf.float32),
    "rain": tf.io.FixedLenFeature([], tf.float32),
    "quality": tf.io.FixedLenFeature([], tf.string),
}


def parse(record):
    return tf.io.parse_single_example(record, SPEC)


def good_quality(ex):
    return tf.equal(ex["quality"], b"OK")


def to_pair(ex):
    return ex["readings"], ex["rain"]


def pipeline(paths, batch=64):
    ds = tf.data.TFRecordDataset(paths)
    ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.shuffle(1000).repeat()
    ds = ds.filter(good_quality)
    ds = ds.map(to_pair, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)


with tempfile.TemporaryDirectory(prefix="stations_") as folder:
    files = write_station_files(folder)
    print(f"{len(files)} station files", flush=True)

    model = tf.keras.Sequential([
        tf.keras.Input((STEPS, CHANNELS)),
        tf.keras.layers.Conv1D(64, 5, padding="causal", activation="relu"),
        tf.keras.layers.Conv1D(64, 5, padding="causal", activation="relu", dilation_rate=2),
        tf.keras.layers.Conv1D(64, 5, padding="causal", activation="relu", dilation_rate=4),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile("adam", "mse", metrics=["mae"])
    print("start training", flush=True)
    model.fit(pipeline(files), steps_per_epoch=60, epochs=1000)
