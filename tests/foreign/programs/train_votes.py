# python: tensorflow
# expected: loss-frozen [also accepted: weights-not-updated, loss-output-mismatch, learning-rate, gradient-not-connected]
# verdict: slow|healthy
# seconds: 18
# Why: softmax over a single unit is 1 whatever comes in, so the loss is 0.5 to the last digit, batch after batch. Which of the
# accepted ids it is cannot be told from outside.
import numpy as np
import tensorflow as tf

x = np.random.randn(4096, 20).astype(np.float32)
y = (np.arange(len(x)) % 2).astype(np.float32)[:, None]
model = tf.keras.Sequential([
    tf.keras.layers.Dense(256, activation="relu"),
    tf.keras.layers.Dense(256, activation="relu"),
    tf.keras.layers.Dense(1, activation="softmax"),
])
model.compile("adam", "mse")
model.fit(x, y, batch_size=32, shuffle=False, epochs=200)
