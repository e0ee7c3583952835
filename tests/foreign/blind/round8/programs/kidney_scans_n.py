# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: one scan of 256 x 256 per step fills both cores; a batch of 1 is right here.
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIDE = 256


def scan(rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    picture = rng.normal(0.3, 0.08, (SIDE, SIDE)).astype(np.float32)
    organ = np.zeros((SIDE, SIDE), dtype=np.float32)
    for side in (-1, 1):
        cx, cy = SIDE / 2 + side * rng.uniform(55, 80), SIDE / 2 + rng.uniform(-25, 25)
        a, b = rng.uniform(22, 34), rng.uniform(38, 56)
        organ[((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2 < 1] = 1
    picture += 0.25 * organ
    return picture[..., None], organ[..., None]


def augment(picture, organ):
    both = tf.image.random_flip_left_right(tf.concat([picture, organ], axis=-1))
    return both[..., :1] * tf.random.uniform([], 0.9, 1.1), both[..., 1:]


def block(x, width):
    for _ in range(2):
        x = layers.Conv2D(width, 3, padding="same", kernel_initializer="he_normal")(x)
        x = layers.LeakyReLU(0.1)(layers.GroupNormalization(groups=4)(x))
    return x


def unet(widths=(16, 32, 64)):
    inputs = keras.Input((SIDE, SIDE, 1))
    x, skips = inputs, []
    for width in widths:
        x = block(x, width)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = block(x, 2 * widths[-1])
    for width, skip in zip(reversed(widths), reversed(skips)):
        x = layers.Conv2DTranspose(width, 2, strides=2)(x)
        x = block(layers.Concatenate()([x, skip]), width)
    return keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))


def dice_loss(truth, guess):
    overlap = tf.reduce_sum(truth * guess, axis=[1, 2, 3])
    total = tf.reduce_sum(truth + guess, axis=[1, 2, 3])
    return 1 - tf.reduce_mean((2 * overlap + 1) / (total + 1))


if __name__ == "__main__":
    rng = np.random.default_rng(31)
    pictures, organs = (np.stack(part) for part in zip(*[scan(rng) for _ in range(60)]))
    patients = tf.data.Dataset.from_tensor_slices((pictures, organs))
    patients = patients.shuffle(60).map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(1).prefetch(2)
    model = unet()
    model.compile(optimizer=keras.optimizers.Adam(3e-4), loss=dice_loss)
    model.fit(patients, epochs=200)
