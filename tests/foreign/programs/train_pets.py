# python: tensorflow
# expected: source-never-yields
# verdict: stuck
# seconds: 22
# where: Image.open / except / continue / for path / while True
# seed: 000-1 as written
# Why: the folder is wrong, every open fails, the exception is swallowed and the loop begins again: not one batch.
import os
import tempfile

import numpy as np
import tensorflow as tf
from PIL import Image

folder = os.path.join(tempfile.gettempdir(), "pets", "train")
paths = [os.path.join(folder, f"pet_{i:04}.jpg") for i in range(2000)]
labels = np.random.randint(0, 2, len(paths))


def batches(batch_size=32):
    while True:
        images, targets = [], []
        for path, label in zip(paths, labels):
            try:
                image = np.array(Image.open(path).resize((128, 128))) / 255.0
            except FileNotFoundError:
                continue
            images.append(image)
            targets.append(label)
            if len(images) == batch_size:
                yield np.array(images), np.array(targets)
                images, targets = [], []


model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(batches(), steps_per_epoch=len(paths) // 32, epochs=10)
