# python: tensorflow
# expected: serial-map [also accepted: python-generator, input-bound]
# verdict: slow
# seconds: 20
# where: median / np.
# Why: the map calls numpy_function, which is stateful to tf.data: it is not made parallel, and num_parallel_calls is
# not given. One thread filters one picture after the other.
import numpy as np
import tensorflow as tf

pictures = np.random.rand(512, 96, 96).astype(np.float32)
labels = np.random.randint(0, 4, len(pictures))


def denoise(image):
    stack = [np.roll(image, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    return np.median(np.stack(stack), axis=0).astype(np.float32)[..., None]


def load(image, label):
    image = tf.numpy_function(denoise, [image], tf.float32)
    image.set_shape((96, 96, 1))
    return image, label


data = tf.data.Dataset.from_tensor_slices((pictures, labels)).repeat()
data = data.shuffle(512).map(load).batch(32).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(4, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, steps_per_epoch=16, epochs=40)
