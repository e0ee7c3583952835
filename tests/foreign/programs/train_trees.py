# python: tensorflow
# expected: model-too-large
# verdict: crashed
# seconds: 30
# where: Dense
# seed: 001-2
# Why: a 100,000 x 100,000 layer is 40 GB of weights before gradients and Adam. The limit on address space (what a job
# scheduler sets) turns it into a clear failure instead of a dead machine.
import resource

import tensorflow as tf

resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
model = tf.keras.Sequential([
    tf.keras.layers.Input((100,)),
    tf.keras.layers.Dense(100000, activation="relu"),
    tf.keras.layers.Dense(100000, activation="relu"),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
x = tf.random.normal((1000, 100))
y = tf.random.uniform((1000,), maxval=10, dtype=tf.int32)
model.fit(x, y, epochs=1)
