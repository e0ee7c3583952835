# python: tensorflow
# expected: crashed
# verdict: crashed
# seconds: 30
# where: from_tensor_slices
# seed: 002-1 as written
# Why: the list of paths still has the three dots of the example it was copied from: an Ellipsis is no string.
import tensorflow as tf


def load(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.convert_image_dtype(tf.image.resize(image, [64, 64]), tf.float32)


paths = ["plates/0001.jpg", "plates/0002.jpg", ...]
data = tf.data.Dataset.from_tensor_slices(paths)
for images in data.map(load).batch(32).prefetch(2):
    print(images.shape)
