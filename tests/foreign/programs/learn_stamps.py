# python: tensorflow
# expected: healthy
# verdict: healthy|finished
# seconds: 22
# seed: 001-1
# Why: the array is copied into a tensor once, the whole of it is shuffled (in memory, without any decoding), and a cheap
# map stands behind the prefetch. All three can be bad; with 226 MB they cost seconds before a training of minutes.
import numpy as np
import tensorflow as tf

images = np.random.rand(12000, 28, 28, 3)
labels = np.random.randint(0, 10, len(images))
data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(images)).batch(32)
data = data.prefetch(tf.data.AUTOTUNE)
data = data.map(lambda x, y: (tf.image.convert_image_dtype(x, tf.float32), y), num_parallel_calls=tf.data.AUTOTUNE)
model = tf.keras.Sequential([
    tf.keras.layers.Input((28, 28, 3)),
    tf.keras.layers.Conv2D(24, 3, activation="relu"),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, epochs=20)
