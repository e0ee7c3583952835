# python: tensorflow
# expected: learning-rate [also accepted: loss-oscillates, exploding-gradients]
# verdict: slow|healthy
# seconds: 18
# Why: Adam with a rate of 30: the loss jumps up and stays several times what it was at the start.
import numpy as np
import tensorflow as tf

x = np.random.rand(20000, 32).astype(np.float32)
y = np.random.randint(0, 10, len(x))
model = tf.keras.Sequential([
    tf.keras.layers.Dense(512, activation="relu"),
    tf.keras.layers.Dense(512, activation="relu"),
    tf.keras.layers.Dense(10),
])
model.compile(tf.keras.optimizers.Adam(30.0),
              tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=64, epochs=100)
