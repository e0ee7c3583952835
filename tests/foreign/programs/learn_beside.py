# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 20
# setup: neighbour 2
# Why: somebody else's job keeps every core busy beside it. The training gets half of the machine and uses it; it has no
# more threads at work than cores. A remark is right, an accusation is not.
import numpy as np
import tensorflow as tf

x = np.random.rand(4096, 32, 32, 3).astype(np.float32)
y = np.random.randint(0, 10, len(x))
model = tf.keras.Sequential([
    tf.keras.layers.Input((32, 32, 3)),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=32, epochs=40)
