# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 18
# Why: inference: no epoch, no loss, no gradient, for hours. It moves.
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([
    tf.keras.layers.Input((96, 96, 3)),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.Conv2D(64, 3, strides=2, activation="relu"),
    tf.keras.layers.Conv2D(64, 3, strides=2, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(100, activation="softmax"),
])
images = np.random.rand(1024, 96, 96, 3).astype(np.float32)
counts = np.zeros(100, int)
for part in range(2000):
    scores = model.predict(images, batch_size=32, verbose=0)
    counts += np.bincount(scores.argmax(axis=1), minlength=100)
    print(f"part {part}: {counts.sum()} labelled", flush=True)
