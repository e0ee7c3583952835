# python: tensorflow
# expected: batch-too-small
# verdict: slow
# seconds: 18
# where: model.fit
# seed: 003-1 supplied
# Why: batch_size=1 with a small model: a step costs the same for 64 samples, so an epoch takes 64 times as long.
import numpy as np
import tensorflow as tf

x_train = np.random.rand(20000, 784).astype(np.float32)
y_train = tf.keras.utils.to_categorical(np.random.randint(0, 10, len(x_train)), 10)

model = tf.keras.Sequential([
    tf.keras.layers.Input((784,)),
    tf.keras.layers.Dense(128, activation="relu"),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=10, batch_size=1, verbose=1)
