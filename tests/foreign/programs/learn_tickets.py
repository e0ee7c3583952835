# python: tensorflow
# expected: healthy
# verdict: healthy|finished
# seconds: 20
# seed: 003-3 supplied
# Why: three layers of 1024 look large in a listing; they are 12 MB. Nothing runs out of memory.
import numpy as np
import tensorflow as tf

x = np.random.rand(60000, 784).astype(np.float32)
y = tf.keras.utils.to_categorical(np.random.randint(0, 10, len(x)), 10)
model = tf.keras.Sequential([
    tf.keras.layers.Input((784,)),
    tf.keras.layers.Dense(1024, activation="relu"),
    tf.keras.layers.Dense(1024, activation="relu"),
    tf.keras.layers.Dense(1024, activation="relu"),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=10, batch_size=64)
