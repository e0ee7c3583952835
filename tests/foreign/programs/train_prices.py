# python: tensorflow
# expected: nan-loss [also accepted: exploding-gradients, learning-rate]
# verdict: slow|healthy
# seconds: 18
# Why: some targets are NaN (a missing price); after the first batch that holds one, loss and weights are NaN.
import numpy as np
import tensorflow as tf

x = np.random.randn(200000, 24).astype(np.float32)
y = np.exp(x[:, :3].sum(axis=1)).astype(np.float32)
y[np.random.rand(len(y)) < 0.001] = np.nan

model = tf.keras.Sequential([
    tf.keras.layers.Dense(512, activation="relu"),
    tf.keras.layers.Dense(512, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile("adam", "mse")
model.fit(x, y, batch_size=64, epochs=50)
