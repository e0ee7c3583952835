# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 20
# Why: tf.data as it should be (parallel map, prefetch) in front of a model that needs much longer than the decoding.
import numpy as np
import tensorflow as tf

import make_files

paths = make_files.photos(200, 160, 120)
labels = np.random.randint(0, 10, len(paths))


def load(path, label):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, [64, 64]) / 255.0, label


data = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(len(paths)).repeat()
data = data.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(48, 3, activation="relu"),
    tf.keras.layers.Conv2D(64, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Conv2D(64, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, steps_per_epoch=60, epochs=20)
