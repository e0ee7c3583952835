# python: tensorflow
# expected: per-pixel-python [also accepted: python-generator]
# verdict: slow
# seconds: 18
# how: attach
# where: for x in / image[y, x] / grey
# Why: two nested Python loops visit every pixel; one array expression would do.
import numpy as np
import tensorflow as tf

pictures = np.random.randint(0, 256, (256, 64, 64, 3), dtype=np.uint8)
labels = np.random.randint(0, 10, 256)


def to_grey(image):
    grey = np.zeros((64, 64, 1), np.float32)
    for y in range(64):
        for x in range(64):
            r, g, b = image[y, x]
            grey[y, x, 0] = (0.299 * r + 0.587 * g + 0.114 * b) / 255.0
    return grey


def samples():
    for image, label in zip(pictures, labels):
        yield to_grey(image), label


data = tf.data.Dataset.from_generator(samples, output_signature=(
    tf.TensorSpec((64, 64, 1), tf.float32), tf.TensorSpec((), tf.int64)))
data = data.repeat().batch(16).prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(4),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, steps_per_epoch=16, epochs=40)
