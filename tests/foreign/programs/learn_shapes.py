# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 18
# Why: a convolution net that keeps every core busy with training; slow, and nothing is wrong.
import numpy as np
import tensorflow as tf

x = np.random.rand(2048, 64, 64, 3).astype(np.float32)
y = (x.mean(axis=(1, 2, 3)) * 1000).astype(int) % 10
model = tf.keras.Sequential([
    tf.keras.layers.Input((64, 64, 3)),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.Conv2D(64, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Conv2D(64, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=64, epochs=20)
