# python: tensorflow
# expected: many-small-files [also accepted: input-bound]
# verdict: slow
# seconds: 20
# Why: 40,000 files of 256 bytes: each costs an open, an fstat, two reads and a close for next to no data.
import tensorflow as tf

import make_files

paths = make_files.crumbs(40000, 256)
data = tf.data.Dataset.from_tensor_slices(paths).repeat()


def load(path):
    raw = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)
    return tf.reshape(tf.cast(raw, tf.float32), (256,)) / 255.0, tf.strings.length(path) % 10


data = data.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(512).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(data, steps_per_epoch=len(paths) // 512, epochs=100)
