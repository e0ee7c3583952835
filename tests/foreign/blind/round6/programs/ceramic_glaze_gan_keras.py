# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: the losses of generator and discriminator swing against each other, as those of a GAN do; all the time goes into the two networks.
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

NOISE = 64
SIDE = 32
BATCH = 64


def glaze_patterns(n):
    rng = np.random.default_rng(12)
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    out = np.empty((n, SIDE, SIDE, 3), np.float32)
    for i in range(n):
        fx, fy, ph = rng.uniform(1, 5, 3)
        crackle = np.sin(6.28 * (fx * x + fy * y) + ph) * np.cos(6.28 * fy * x)
        tint = rng.uniform(-0.6, 0.6, 3)
        out[i] = np.clip(0.5 * crackle[..., None] + tint, -1, 1)
    return out


def make_generator():
    return tf.keras.Sequential([
        layers.Input((NOISE,)),
        layers.Dense(4 * 4 * 128, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Reshape((4, 4, 128)),
        layers.Conv2DTranspose(64, 4, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2DTranspose(32, 4, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2DTranspose(3, 4, strides=2, padding="same", activation="tanh"),
    ], name="generator")


def make_discriminator():
    return tf.keras.Sequential([
        layers.Input((SIDE, SIDE, 3)),
        layers.Conv2D(32, 4, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv2D(64, 4, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv2D(128, 4, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Flatten(),
        layers.Dense(1),
    ], name="discriminator")


generator, discriminator = make_generator(), make_discriminator()
g_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
d_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(real):
    z = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as gt, tf.GradientTape() as dt:
        fake = generator(z, training=True)
        on_real = discriminator(real, training=True)
        on_fake = discriminator(fake, training=True)
        g_loss = bce(tf.ones_like(on_fake), on_fake)
        d_loss = bce(tf.ones_like(on_real) * 0.9, on_real) + bce(tf.zeros_like(on_fake), on_fake)
    g_opt.apply_gradients(zip(gt.gradient(g_loss, generator.trainable_variables), generator.trainable_variables))
    d_opt.apply_gradients(zip(dt.gradient(d_loss, discriminator.trainable_variables), discriminator.trainable_variables))
    return g_loss, d_loss


def main():
    patterns = glaze_patterns(6000)
    ds = tf.data.Dataset.from_tensor_slices(patterns).shuffle(6000).batch(BATCH, drop_remainder=True).prefetch(2)
    step = 0
    for epoch in range(1, 1001):
        t = time.time()
        for real in ds:
            g_loss, d_loss = train_step(real)
            step += 1
            if step % 20 == 0:
                print(f"  step {step}: g_loss={float(g_loss):.3f} d_loss={float(d_loss):.3f}", flush=True)
        print(f"epoch {epoch} took {time.time() - t:.1f}s", flush=True)


if __name__ == "__main__":
    main()
