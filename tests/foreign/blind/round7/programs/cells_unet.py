# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: A batch of one large microscope image: each step is a few hundred ms of convolutions, and twice the batch takes twice the
# time. Only one call decodes at a time, and it keeps up easily.
import os
import tempfile

import numpy as np
import tensorflow as tf
from PIL import Image

L = tf.keras.layers


def stain(folder, count=40, side=320):
    rng = np.random.default_rng(6)
    yy, xx = np.mgrid[0:side, 0:side]
    for n in range(count):
        mask = np.zeros((side, side), bool)
        for cy, cx, r in zip(rng.integers(0, side, 25), rng.integers(0, side, 25), rng.integers(8, 24, 25)):
            mask |= (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
        image = np.clip(90 + 70 * mask + rng.normal(0, 40, mask.shape), 0, 255).astype(np.uint8)
        Image.fromarray(image).save(os.path.join(folder, f"well_{n:02d}_image.png"))
        Image.fromarray((mask * 255).astype(np.uint8)).save(os.path.join(folder, f"well_{n:02d}_mask.png"))


def load(image_path, mask_path):
    image = tf.io.decode_png(tf.io.read_file(image_path), channels=1)
    mask = tf.io.decode_png(tf.io.read_file(mask_path), channels=1)
    both = tf.image.random_flip_left_right(tf.concat([image, mask], -1))
    both = tf.cast(tf.ensure_shape(both, (320, 320, 2)), tf.float32) / 255.0
    return both[..., :1], both[..., 1:]


def double_conv(x, width):
    for _ in range(2):
        x = L.Conv2D(width, 3, padding="same", activation="relu", kernel_initializer="he_normal")(x)
    return x


def unet(base=12):
    inputs = tf.keras.Input((320, 320, 1))
    skips, x = [], inputs
    for depth in range(3):
        x = double_conv(x, base * 2 ** depth)
        skips.append(x)
        x = L.MaxPooling2D()(x)
    x = double_conv(x, base * 8)
    for depth in reversed(range(3)):
        x = L.Conv2DTranspose(base * 2 ** depth, 2, strides=2)(x)
        x = double_conv(L.Concatenate()([x, skips[depth]]), base * 2 ** depth)
    return tf.keras.Model(inputs, L.Conv2D(1, 1, activation="sigmoid")(x))


def dice_loss(truth, guess):
    overlap = tf.reduce_sum(truth * guess)
    return 1.0 - (2.0 * overlap + 1.0) / (tf.reduce_sum(truth) + tf.reduce_sum(guess) + 1.0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="wells_") as folder:
        stain(folder)
        names = sorted(os.path.join(folder, f) for f in os.listdir(folder))
        pairs = tf.data.Dataset.from_tensor_slices((names[0::2], names[1::2]))
        train = pairs.shuffle(40).map(load).batch(1).prefetch(2)
        model = unet()
        model.compile(tf.keras.optimizers.Adam(3e-4), loss=dice_loss, metrics=["accuracy"])
        model.fit(train, epochs=150)
