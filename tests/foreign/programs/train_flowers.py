# python: tensorflow
# expected: python-generator [also accepted: input-bound]
# verdict: slow
# seconds: 18
# where: Image.open / image.resize / np.asarray
# seed: 000-1 supplied
# Why: PIL opens, decodes and resizes picture after picture on the one thread that runs the generator; the model needs
# a few milliseconds.
import numpy as np
import tensorflow as tf
from PIL import Image

import make_files


def batches(paths, labels, batch_size):
    while True:
        order = np.random.permutation(len(paths))
        for start in range(0, len(paths) - batch_size + 1, batch_size):
            images = []
            for i in order[start:start + batch_size]:
                image = Image.open(paths[i])
                image = image.resize((96, 96))
                images.append(np.asarray(image) / 255.0)
            yield np.array(images, np.float32), labels[order[start:start + batch_size]]


paths = make_files.photos(300, 1024, 768)
labels = np.random.randint(0, 5, len(paths))

model = tf.keras.Sequential([
    tf.keras.layers.Input((96, 96, 3)),
    tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(5, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(batches(paths, labels, 32), steps_per_epoch=len(paths) // 32, epochs=50)
