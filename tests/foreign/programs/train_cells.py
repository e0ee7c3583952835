# python: tensorflow
# expected: no-prefetch [also accepted: input-bound, python-generator]
# verdict: slow
# seconds: 18
# where: load_batch / np.load / np.
# Why: a hand-written loop: make a batch, train on it, make the next. Input and training take turns on the main thread;
# half of each step the model does nothing. (A tf.data pipeline without prefetch no longer shows this: TF 2.21 adds the
# prefetch by itself.)
import numpy as np
import tensorflow as tf

import make_files

paths = make_files.arrays(64, (96, 96, 3))


def load_batch(step, batch_size=16):
    images = []
    for i in range(batch_size):
        image = np.load(paths[(step * batch_size + i) % len(paths)])
        for axis in (0, 1):
            image = np.sort(image, axis=axis) * 0.5 + image * 0.5
        images.append(image)
    return np.stack(images), np.arange(batch_size) % 10


model = tf.keras.Sequential([
    tf.keras.layers.Input((96, 96, 3)),
    tf.keras.layers.Conv2D(16, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
for step in range(10000):
    images, labels = load_batch(step)
    loss = model.train_on_batch(images, labels)
    if step % 10 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
