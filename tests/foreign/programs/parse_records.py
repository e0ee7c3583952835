# python: tensorflow
# expected: crashed
# verdict: crashed
# seconds: 30
# where: model.fit
# seed: 000-3 as written
# Why: the TFRecord file does not exist; TensorFlow says so when fit asks for the first batch, and that is the line.
import tensorflow as tf


def parse(example):
    row = tf.io.parse_single_example(example, {"x": tf.io.FixedLenFeature([8], tf.float32),
                                               "y": tf.io.FixedLenFeature([], tf.float32)})
    return row["x"], row["y"]


data = tf.data.TFRecordDataset(["harbour-0001.tfrecord"]).map(parse).batch(32).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(data, epochs=3)
