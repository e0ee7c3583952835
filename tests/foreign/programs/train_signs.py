# python: tensorflow
# expected: shuffle-fill
# verdict: slow|not-started|stuck
# seconds: 22
# seed: 000-2 supplied, 000-3 supplied
# Why: shuffle(100000) stands behind the decoding, so 100,000 decoded pictures have to be made and held before the first
# batch. TensorFlow logs "Filling up shuffle buffer" every ten seconds. Shuffling the paths would cost nothing.
import numpy as np
import tensorflow as tf

import make_files

paths = make_files.photos(300, 640, 480)
labels = np.random.randint(0, 10, len(paths))


def load(path, label):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.resize(image, [80, 80])
    return image / 255.0, label


data = tf.data.Dataset.from_tensor_slices((paths, labels)).repeat()
data = data.map(load, num_parallel_calls=tf.data.AUTOTUNE)
data = data.shuffle(100000).batch(32).prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(16, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, steps_per_epoch=500, epochs=10)
