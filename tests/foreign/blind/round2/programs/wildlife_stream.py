# python: tensorflow
# expected: source-never-yields [also accepted: loop-never-ends]
# verdict: stuck|not-started
# seconds: 30
# where: tf.strings.regex_full_match / model.fit
# Why: the records carry "Fox", "Badger"; the filter asks for lower case, so nothing passes, and repeat() in front of it makes the pipeline search for ever. Labels change case with each export.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tempfile
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SPECIES = ["Fox", "Badger", "Roe deer", "Marten", "Empty"]
SIZE = 48
rng = np.random.default_rng(8)


def feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def write_shards(folder, shards=4, per_shard=300):
    paths = []
    for s in range(shards):
        path = os.path.join(folder, f"camera-{s:02d}.tfrecord")
        with tf.io.TFRecordWriter(path) as out:
            for _ in range(per_shard):
                k = rng.integers(len(SPECIES))
                img = rng.integers(0, 120, (SIZE, SIZE, 3), dtype=np.uint8)
                img[8 * k:8 * k + 12, 10:38] += 100
                ex = tf.train.Example(features=tf.train.Features(feature={
                    "image": feature(tf.io.encode_jpeg(img).numpy()),
                    "species": feature(SPECIES[k].encode())}))
                out.write(ex.SerializeToString())
        paths.append(path)
    return paths


def parse(record):
    ex = tf.io.parse_single_example(record, {
        "image": tf.io.FixedLenFeature([], tf.string),
        "species": tf.io.FixedLenFeature([], tf.string)})
    return ex["image"], ex["species"]


def wanted(image, species):
    return tf.strings.regex_full_match(species, "fox|badger|marten")


def decode(image, species):
    img = tf.image.decode_jpeg(image, channels=3)
    img = tf.image.random_flip_left_right(tf.cast(img, tf.float32) / 255.0)
    img.set_shape((SIZE, SIZE, 3))
    label = tf.argmax(tf.cast(tf.equal(species, tf.constant(SPECIES)), tf.int32))
    return img, label


def make_dataset(paths):
    ds = tf.data.TFRecordDataset(paths)
    ds = ds.map(parse).repeat().filter(wanted)
    ds = ds.shuffle(200).map(decode, num_parallel_calls=2)
    return ds.batch(32).prefetch(2)


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = write_shards(folder)
        model = keras.Sequential([
            keras.Input((SIZE, SIZE, 3)),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.Conv2D(32, 3, strides=2, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(len(SPECIES), activation="softmax")])
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(make_dataset(paths), steps_per_epoch=100, epochs=50)


if __name__ == "__main__":
    main()
