# python: tensorflow
# expected: slow-callback
# verdict: slow
# seconds: 20
# where: save
# Why: the whole model is written to disk after every batch.
import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp(prefix="audio-")


class KeepEveryBatch(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.model.save(os.path.join(folder, "latest.keras"))


x = np.random.randn(8192, 256).astype(np.float32)
y = np.random.randint(0, 12, len(x))
model = tf.keras.Sequential([
    tf.keras.layers.Input((256,)),
    tf.keras.layers.Dense(768, activation="relu"),
    tf.keras.layers.Dense(768, activation="relu"),
    tf.keras.layers.Dense(12, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=64, epochs=10, callbacks=[KeepEveryBatch()])
