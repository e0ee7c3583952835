# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 22
# Why: dataset.cache() fills during the first epoch, so memory rises for some seconds and then stays: no leak.
import numpy as np
import tensorflow as tf

import make_files

paths = make_files.photos(200, 160, 120) * 10
labels = np.random.randint(0, 10, len(paths))


def load(path, label):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, [80, 80]) / 255.0, label


data = tf.data.Dataset.from_tensor_slices((paths, labels)).map(load, num_parallel_calls=tf.data.AUTOTUNE)
data = data.cache().shuffle(256).batch(64).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, epochs=50)
