# python: tensorflow
# expected: decode-saturated [also accepted: input-bound]
# verdict: slow
# seconds: 18
# Why: every core decodes large JPEGs, in parallel and with prefetch, and a tiny model waits: more threads cannot help.
# On a machine with many cores a single decode thread pool may be fast enough, so the runner skips it there.
# most-cores: 8
import numpy as np
import tensorflow as tf

import make_files

paths = make_files.photos(120, 2048, 1536)
labels = np.random.randint(0, 10, len(paths))


def load(path, label):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, [64, 64]) / 255.0, label


data = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(120).repeat()
data = data.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(16).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, steps_per_epoch=50, epochs=20)
