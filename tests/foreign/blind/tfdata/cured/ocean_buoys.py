"""Predict significant wave height from buoy acceleration logs (one compressed file per buoy)."""
import logging
import os
import pathlib
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("buoys")

LENGTH = 24000
AXES = 3
FOLDER = pathlib.Path(tempfile.gettempdir()) / "ocean_buoys_z"
LAYOUT = {
    "acc": tf.io.FixedLenFeature([], tf.string),
    "height": tf.io.FixedLenFeature([], tf.float32),
}


def log_file(path, seed, n=24):
    rng = np.random.default_rng(seed)
    t = np.arange(LENGTH) / 10.0
    with tf.io.TFRecordWriter(str(path), tf.io.TFRecordOptions("ZLIB", compression_level=1)) as w:
        for _ in range(n):
            height = rng.gamma(3.0, 0.7)
            phase = rng.uniform(0, 6, AXES)
            acc = height * np.sin(0.8 * t[:, None] + phase) + 0.1 * rng.standard_normal((LENGTH, AXES), dtype=np.float32)
            w.write(tf.train.Example(features=tf.train.Features(feature={
                "acc": tf.train.Feature(bytes_list=tf.train.BytesList(
                    value=[(acc * 1000).astype("<i2").tobytes()])),
                "height": tf.train.Feature(float_list=tf.train.FloatList(value=[height])),
            })).SerializeToString())


def logs(buoys=6):
    FOLDER.mkdir(exist_ok=True)
    for b in range(buoys):
        path = FOLDER / f"buoy_{b:02d}.tfrecord"
        if not path.exists():
            log_file(path.with_suffix(".tmp"), b)
            path.with_suffix(".tmp").rename(path)
    return sorted(map(str, FOLDER.glob("*.tfrecord")))


def pooled(records):
    parsed = tf.io.parse_example(records, LAYOUT)
    acc = tf.reshape(tf.io.decode_raw(parsed["acc"], tf.int16), (-1, 120, LENGTH // 120, AXES))
    acc = tf.cast(acc, tf.float32) / 1000.0
    energy = tf.sqrt(tf.reduce_mean(tf.square(acc), axis=2))
    return tf.reshape(energy, (-1, 120 * AXES)), parsed["height"]


def main():
    files = tf.data.Dataset.from_tensor_slices(logs()).repeat()
    records = files.interleave(
        lambda f: tf.data.TFRecordDataset(f, compression_type="ZLIB"), cycle_length=3, block_length=1)
    data = records.batch(48).map(pooled).prefetch(1)
    data = data.take(2).cache().repeat().prefetch(2)

    model = tf.keras.Sequential([
        tf.keras.layers.Input((120 * AXES,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile(optimizer=tf.keras.optimizers.RMSprop(5e-4), loss="huber", metrics=["mae"])
    log.info("training with %d parameters", model.count_params())
    for round_no in range(60):
        h = model.fit(data, steps_per_epoch=60, initial_epoch=round_no, epochs=round_no + 1, verbose=2)
        log.info("round %d: mae %.3f m", round_no, h.history["mae"][-1])


if __name__ == "__main__":
    main()
