# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 18
# Why: the net has learnt what there is to learn: the loss is small and hardly moves. That is not a frozen loss.
import numpy as np
import tensorflow as tf

x = np.random.randn(4096, 64).astype(np.float32)
y = (x[:, :4].sum(axis=1) > 0).astype(np.float32)
model = tf.keras.Sequential([
    tf.keras.layers.Input((64,)),
    tf.keras.layers.Dense(512, activation="relu"),
    tf.keras.layers.Dense(512, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=64, epochs=200)
