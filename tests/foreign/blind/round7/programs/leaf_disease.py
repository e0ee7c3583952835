# python: tensorflow
# expected: shuffle-fill
# verdict: not-started|slow
# seconds: 30
# where: .shuffle( / for step, (images, labels)
# Why: shuffle() with a buffer of 12000 stands behind the decoding: 12000 photos are decoded before the first batch comes out.
import glob
import logging
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from PIL import Image

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("leaf")

CLASSES = ("healthy", "rust", "mildew", "scab")
AUTOTUNE = tf.data.AUTOTUNE


def write_photos(root, per_class=45):
    rng = np.random.default_rng(11)
    for c, name in enumerate(CLASSES):
        os.makedirs(os.path.join(root, name))
        for n in range(per_class):
            leaf = rng.integers(0, 70, (600, 800, 3), dtype=np.uint8)
            leaf[..., 1] += 90
            for _ in range(12 * c):
                y, x = rng.integers(0, 560), rng.integers(0, 760)
                leaf[y:y + 36, x:x + 36, 0] += 60
            Image.fromarray(leaf).save(os.path.join(root, name, f"{n:03d}.jpg"), quality=90)


def decode(path, label):
    photo = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    photo = tf.image.resize(photo, (64, 64)) / 255.0
    photo.set_shape((64, 64, 3))
    return tf.image.random_flip_left_right(photo), label


def dataset(root, batch):
    paths, labels = [], []
    for c, name in enumerate(CLASSES):
        found = sorted(glob.glob(os.path.join(root, name, "*.jpg")))
        paths += found
        labels += [c] * len(found)
    ds = tf.data.Dataset.from_tensor_slices((paths, labels))
    ds = ds.repeat()
    ds = ds.map(decode, num_parallel_calls=AUTOTUNE)
    ds = ds.shuffle(12000)
    return ds.batch(batch).prefetch(AUTOTUNE)


def network():
    inputs = tf.keras.Input((64, 64, 3))
    x = inputs
    for width in (32, 64, 96):
        x = tf.keras.layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = tf.keras.layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = tf.keras.layers.MaxPooling2D()(x)
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(len(CLASSES))(x))


def main():
    root = tempfile.mkdtemp(prefix="leaves_")
    write_photos(root)
    model = network()
    optimizer = tf.keras.optimizers.Adam(5e-4)
    optimizer.build(model.trainable_variables)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, model(images, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    log.info("start of training")
    began = time.time()
    for step, (images, labels) in enumerate(dataset(root, 16), 1):
        loss = train_step(images, labels)
        if step == 1 or step % 5 == 0:
            log.info("step %d loss %.4f (%.1f s)", step, float(loss), time.time() - began)


main()
