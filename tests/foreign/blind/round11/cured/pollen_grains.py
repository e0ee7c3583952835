"""Classify pollen grains on microscope slides (4 species)."""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SLIDES = 160
SIDE = 448
CROP = 40
SPECIES = 4
CROPS_PER_EPOCH = 20000
BATCH = 32


def draw_slide(rng, species):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    waves = np.sin(xx / (2.0 + species)) * np.cos(yy / (3.0 + 0.5 * species))
    base = 128 + 50 * waves
    noise = rng.normal(0, 18, (SIDE, SIDE, 3))
    return np.clip(base[..., None] + noise, 0, 255).astype(np.uint8)


def write_slides(path):
    rng = np.random.default_rng(11)
    with tf.io.TFRecordWriter(path) as out:
        for i in range(SLIDES):
            species = i % SPECIES
            png = tf.io.encode_png(draw_slide(rng, species), compression=1).numpy()
            feature = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[png])),
                "species": tf.train.Feature(int64_list=tf.train.Int64List(value=[species])),
            }
            out.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def parse(record):
    row = tf.io.parse_single_example(record, {
        "image": tf.io.FixedLenFeature([], tf.string),
        "species": tf.io.FixedLenFeature([], tf.int64),
    })
    image = tf.io.decode_png(row["image"], channels=3)
    image = tf.image.random_crop(image, [CROP, CROP, 3])
    image = tf.image.random_flip_left_right(image)
    return tf.cast(image, tf.float32) / 255.0, row["species"]


def make_dataset(path):
    ds = tf.data.TFRecordDataset(path).shuffle(SLIDES).repeat()
    ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def make_model():
    model = keras.Sequential([
        keras.Input((CROP, CROP, 3)),
        layers.Conv2D(48, 3, activation="relu", padding="same"),
        layers.Conv2D(64, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(96, 3, activation="relu", padding="same"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(SPECIES, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


if __name__ == "__main__":
    folder = tempfile.mkdtemp(prefix="pollen_")
    path = os.path.join(folder, "slides.tfrecord")
    write_slides(path)
    print("slides written:", os.path.getsize(path) // 1024, "KiB", flush=True)
    model = make_model()
    model.summary()
    model.fit(make_dataset(path), epochs=20, steps_per_epoch=CROPS_PER_EPOCH // BATCH)
