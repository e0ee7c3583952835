# python: tensorflow
# expected: source-never-yields
# verdict: not-started|stuck
# seconds: 25
# where: ignore_errors / model.fit / FEATURES
# Why: the records carry "label", the reader asks for "class"; ignore_errors() swallows every parse error, and the repeated files never give one sample.
import argparse
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

FEATURES = {
    "scan": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def _bytes(v):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[v]))


def _int(v):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[v]))


def write_shards(folder, shards=4, per_shard=300):
    rng = np.random.default_rng(8)
    for s in range(shards):
        with tf.io.TFRecordWriter(os.path.join(folder, f"scans-{s:02d}.tfrecord")) as out:
            for _ in range(per_shard):
                label = int(rng.integers(0, 4))
                img = rng.integers(0, 60, (48, 48, 1), dtype=np.uint8)
                img[label * 10:label * 10 + 12, 6:42] += 150
                png = tf.io.encode_png(img).numpy()
                ex = tf.train.Example(features=tf.train.Features(feature={
                    "scan": _bytes(png), "label": _int(label), "shard": _int(s)}))
                out.write(ex.SerializeToString())


def parse(record):
    ex = tf.io.parse_single_example(record, FEATURES)
    img = tf.io.decode_png(ex["scan"], channels=1)
    img = tf.ensure_shape(tf.cast(img, tf.float32) / 255.0, (48, 48, 1))
    return img, ex["label"]


def input_fn(folder, batch_size):
    files = tf.data.Dataset.list_files(os.path.join(folder, "scans-*.tfrecord")).repeat()
    ds = files.interleave(tf.data.TFRecordDataset, cycle_length=2)
    ds = ds.shuffle(512).map(parse, num_parallel_calls=2)
    ds = ds.ignore_errors()  # a few scans from the old depot are truncated
    return ds.batch(batch_size).prefetch(2)


def get_model():
    inp = tf.keras.Input((48, 48, 1))
    h = inp
    for width in (16, 32, 64):
        h = tf.keras.layers.Conv2D(width, 3, padding="same", activation="relu")(h)
        h = tf.keras.layers.MaxPool2D()(h)
    h = tf.keras.layers.Flatten()(h)
    out = tf.keras.layers.Dense(4, activation="softmax")(h)
    return tf.keras.Model(inp, out)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=400)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_shards(folder)
        model = get_model()
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(input_fn(folder, args.batch_size), steps_per_epoch=200, epochs=args.epochs)
