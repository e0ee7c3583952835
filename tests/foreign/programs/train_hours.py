# python: tensorflow
# expected: wrong-steps-per-epoch
# verdict: slow|healthy|finished
# seconds: 30
# where: model.fit
# Why: steps_per_epoch=1000, but the data set ends after 60 batches and is not repeated: Keras warns "ran out of data" in
# the first epoch, and every epoch is cut off at step 60.
import numpy as np
import tensorflow as tf

x = np.random.randn(60 * 32, 512).astype(np.float32)
y = np.random.randn(60 * 32, 1).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32).prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(1024, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(data, steps_per_epoch=1000, epochs=40)
