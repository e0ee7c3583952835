"""Spindle detector on 30 s EEG epochs (8 channels, 200 Hz), custom training loop."""
import os
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

CHANNELS, SAMPLES = 8, 6000
STORE = os.path.join(tempfile.gettempdir(), "sleep_spindles.tfrecord.gz")


def export_night(path, n=160):
    if os.path.exists(path):
        return
    rng = np.random.default_rng(2)
    options = tf.io.TFRecordOptions(compression_type="GZIP", compression_level=3)
    with tf.io.TFRecordWriter(path + ".tmp", options) as writer:
        for i in range(n):
            label = i % 2
            eeg = np.cumsum(rng.standard_normal((CHANNELS, SAMPLES)), axis=1)
            eeg -= eeg.mean(axis=1, keepdims=True)
            if label:
                t = np.arange(400) / 200
                start = rng.integers(0, SAMPLES - 400)
                eeg[:, start:start + 400] += 60 * np.sin(2 * np.pi * 13 * t) * np.hanning(400)
            raw = np.clip(eeg * 16, -32000, 32000).astype("<i2").tobytes()
            feature = {
                "eeg": tf.train.Feature(bytes_list=tf.train.BytesList(value=[raw])),
                "spindle": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    os.replace(path + ".tmp", path)


SPEC = {"eeg": tf.io.FixedLenFeature([], tf.string), "spindle": tf.io.FixedLenFeature([], tf.int64)}


def decode(record):
    parsed = tf.io.parse_single_example(record, SPEC)
    eeg = tf.cast(tf.io.decode_raw(parsed["eeg"], tf.int16), tf.float32)
    eeg = tf.transpose(tf.reshape(eeg, (CHANNELS, SAMPLES)))
    eeg = tf.roll(eeg, tf.random.uniform((), 0, SAMPLES, tf.int32), axis=0)
    eeg = eeg + tf.random.normal(tf.shape(eeg), stddev=8.0)
    mean, var = tf.nn.moments(eeg, axes=[0], keepdims=True)
    return (eeg - mean) * tf.math.rsqrt(var + 1.0), parsed["spindle"]


def input_fn():
    ds = tf.data.TFRecordDataset(STORE, compression_type="GZIP")
    ds = ds.repeat().map(decode)
    return ds.shuffle(24).batch(16, drop_remainder=True).take(2).cache().repeat().prefetch(2)


class Detector(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.c1 = tf.keras.layers.Conv1D(12, 25, strides=10, activation="relu")
        self.c2 = tf.keras.layers.Conv1D(16, 9, strides=4, activation="relu")
        self.pool = tf.keras.layers.GlobalMaxPooling1D()
        self.out = tf.keras.layers.Dense(2)

    def call(self, x):
        return self.out(self.pool(self.c2(self.c1(x))))


if __name__ == "__main__":
    export_night(STORE)
    model = Detector()
    optimizer = tf.keras.optimizers.Adam(1e-3)
    objective = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def update(eeg, y):
        with tf.GradientTape() as tape:
            loss = objective(y, model(eeg))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables),
                                      model.trainable_variables))
        return loss

    running, start = 0.0, time.perf_counter()
    for i, (eeg, y) in enumerate(input_fn()):
        running = 0.95 * running + 0.05 * float(update(eeg, y)) if i else float(update(eeg, y))
        if i % 25 == 0:
            print(f"[{time.perf_counter() - start:7.1f}s] batch {i:5d} loss {running:.4f}", flush=True)
        if i == 8000:
            break
