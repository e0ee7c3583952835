# python: tensorflow
# expected: healthy
# verdict: finished|healthy
# seconds: 30
# Why: a small net that is done in seconds; most of its life is `import tensorflow`.
import numpy as np
import tensorflow as tf

x = np.random.randint(0, 2, (4096, 2)).astype(np.float32)
y = (x[:, 0] != x[:, 1]).astype(np.float32)
model = tf.keras.Sequential([
    tf.keras.layers.Input((2,)),
    tf.keras.layers.Dense(16, activation="tanh"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=64, epochs=15)
