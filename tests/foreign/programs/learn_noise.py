# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 18
# Why: a Python generator, but one that needs a few milliseconds a batch before a model that needs many.
import numpy as np
import tensorflow as tf


def batches(batch_size=32):
    random = np.random.default_rng(1)
    while True:
        x = random.random((batch_size, 48, 48, 3), dtype=np.float32)
        yield x, (x[:, 0, 0, 0] * 10).astype(int)


model = tf.keras.Sequential([
    tf.keras.layers.Input((48, 48, 3)),
    tf.keras.layers.Conv2D(48, 3, activation="relu"),
    tf.keras.layers.Conv2D(64, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Conv2D(64, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(batches(), steps_per_epoch=50, epochs=20)
