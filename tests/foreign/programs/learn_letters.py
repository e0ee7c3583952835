# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 20
# Why: validation after every epoch takes about a third of the time, on purpose, and moves. At most a remark.
import numpy as np
import tensorflow as tf

x = np.random.rand(3000, 32, 32, 1).astype(np.float32)
y = np.random.randint(0, 26, len(x))
model = tf.keras.Sequential([
    tf.keras.layers.Input((32, 32, 1)),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(26, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x[:2000], y[:2000], validation_data=(x, y), batch_size=32, epochs=30)
