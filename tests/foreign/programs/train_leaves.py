# python: tensorflow
# expected: preprocessing-before-fit [also accepted: per-pixel-python]
# verdict: not-started
# seconds: 18
# where: smooth / window / for
# seed: 003-2 supplied
# Why: a Python loop over the whole data set runs before fit is called; there is no epoch yet to be stuck in.
import numpy as np
import tensorflow as tf

images = np.random.rand(20000, 48, 48).astype(np.float32)
labels = np.random.randint(0, 10, len(images))


def smooth(image):
    out = np.empty_like(image)
    for row in range(image.shape[0]):
        window = image[max(row - 2, 0):row + 3]
        out[row] = np.median(window, axis=0)
    return out


def prepare(images):
    ready = []
    for image in images:
        ready.append(smooth(image) / image.max())
    return np.array(ready)


x_train = prepare(images)
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x_train, labels, epochs=5)
