# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: the ZLIB files are interleaved in parallel and parsed batch by batch in a small part of the
# time of a step; the wide autoencoder keeps the cores multiplying matrices.
"""Compress near-infrared soil spectra with an autoencoder."""
import os
import pathlib
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

BANDS = 700
SITES = 5
WHERE = pathlib.Path(tempfile.gettempdir()) / "soil_spectra"


def survey(samples=400):
    WHERE.mkdir(exist_ok=True)
    rng = np.random.default_rng(6)
    x = np.linspace(0, 1, BANDS)
    for site in range(SITES):
        path = WHERE / f"site{site}.zrec"
        if path.exists():
            continue
        with tf.io.TFRecordWriter(str(path) + "~", tf.io.TFRecordOptions("ZLIB")) as w:
            for _ in range(samples):
                centre, depth = rng.uniform(0.1, 0.9, 4), rng.uniform(0.05, 0.4, 4)
                s = 1 - (depth * np.exp(-((x[:, None] - centre) / 0.05) ** 2)).sum(1)
                s = s + rng.normal(0, 0.004, BANDS)
                f = tf.train.Feature(float_list=tf.train.FloatList(value=s.round(4)))
                w.write(tf.train.Example(features=tf.train.Features(feature={"nir": f})).SerializeToString())
        os.rename(str(path) + "~", path)
    return [str(p) for p in sorted(WHERE.glob("*.zrec"))]


def spectra(records):
    nir = tf.io.parse_example(records, {"nir": tf.io.FixedLenFeature([BANDS], tf.float32)})["nir"]
    return (nir - 0.85) * 6.0


def pipeline(files, size=32):
    ds = tf.data.Dataset.from_tensor_slices(files).repeat()
    ds = ds.interleave(lambda f: tf.data.TFRecordDataset(f, "ZLIB"), cycle_length=2,
                       num_parallel_calls=2, deterministic=False)
    return ds.shuffle(500).batch(size, drop_remainder=True).map(spectra, num_parallel_calls=1).prefetch(2)


def dense(n, act="elu"):
    return tf.keras.layers.Dense(n, activation=act, kernel_initializer="he_normal")


coder = tf.keras.Sequential([tf.keras.Input((BANDS,)), dense(2400), dense(1000), dense(24, None),
                             dense(1000), dense(2400), dense(BANDS, None)])
optimizer = tf.keras.optimizers.Adam(1e-4)
optimizer.build(coder.trainable_variables)


@tf.function(input_signature=[tf.TensorSpec((32, BANDS), tf.float32)])
def improve(batch):
    with tf.GradientTape() as tape:
        error = tf.reduce_mean(tf.square(coder(batch, training=True) - batch))
    optimizer.apply_gradients(zip(tape.gradient(error, coder.trainable_variables), coder.trainable_variables))
    return error


if __name__ == "__main__":
    feed = iter(pipeline(survey()))
    began, total = time.time(), 0.0
    for k in range(1, 15001):
        total += float(improve(next(feed)))
        if k % 50 == 0:
            print("%6d updates, error %.5f, %.1f updates/s" % (k, total / 50, k / (time.time() - began)), flush=True)
            total = 0.0
