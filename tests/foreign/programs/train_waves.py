# python: tensorflow
# expected: epoch-never-ends
# verdict: slow|healthy
# seconds: 18
# where: model.fit
# Why: the generator is endless and steps_per_epoch is not given: epoch 1 has no last step.
import numpy as np
import tensorflow as tf


def windows(batch_size=128):
    while True:
        phase = np.random.rand(batch_size, 1) * 6.28
        t = np.linspace(0, 6.28, 64)[None]
        wave = np.sin(t + phase).astype(np.float32)
        yield wave[:, :-1], wave[:, -1]


model = tf.keras.Sequential([
    tf.keras.layers.Dense(512, activation="relu"),
    tf.keras.layers.Dense(512, activation="relu"),
    tf.keras.layers.Dense(512, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile("adam", "mse")
model.fit(windows(), epochs=5)
