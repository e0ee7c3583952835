# python: tensorflow
# expected: crashed
# verdict: crashed
# seconds: 30
# where: resize
# seed: 000-2 as written
# Why: decode_image gives a tensor of unknown rank (it might be a GIF), and resize refuses it while the map is traced.
import tensorflow as tf

import make_files


def load(path):
    image = tf.io.decode_image(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, [128, 128]) / 255.0, 1


data = tf.data.Dataset.from_tensor_slices(make_files.photos(200, 160, 120)).map(load).batch(32)
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(data, epochs=3)
