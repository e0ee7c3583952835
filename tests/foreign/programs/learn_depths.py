# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 28
# Why: a very deep net takes several seconds to build and trace, once, in silence; then it trains.
import numpy as np
import tensorflow as tf

inputs = tf.keras.Input((64,))
x = inputs
for _ in range(25):
    x = tf.keras.layers.Dense(64, activation="relu")(x) + x
    x = tf.keras.layers.LayerNormalization()(x)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))
model.compile("adam", "mse")
data = np.random.randn(4096, 64).astype(np.float32)
model.fit(data, data[:, :3].sum(axis=1), batch_size=64, epochs=50)
