# python: tensorflow
# expected: healthy
# verdict: finished|healthy
# seconds: 30
# seed: 001-3
# Why: there is a sleep in the function given to map, but it is Python: it runs once, while the map is traced.
import time

import tensorflow as tf


def settle(x):
    time.sleep(0.2)
    return x


x = tf.random.uniform((20000, 64))
y = tf.reduce_sum(x, axis=1)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32).map(lambda x, y: (settle(x), y)).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(data, epochs=4)
