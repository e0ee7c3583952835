# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: The two losses of a GAN swing against each other and need not fall; data come from a small tf.data set, the step is all compute.
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

NOISE = 48


def icons(n=6000, seed=13):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:32, 0:32].astype(np.float32)
    cy, cx = rng.uniform(10, 22, (2, n, 1, 1)).astype(np.float32)
    r = rng.uniform(5, 10, (n, 1, 1)).astype(np.float32)
    disc = np.hypot(yy - cy, xx - cx) < r
    square = (abs(yy - cy) < r) & (abs(xx - cx) < r)
    pick = rng.random((n, 1, 1)) < 0.5
    return (np.where(pick, disc, square) * 2.0 - 1.0).astype(np.float32)[..., None]


def make_generator():
    return tf.keras.Sequential([
        tf.keras.Input((NOISE,)),
        layers.Dense(8 * 8 * 64),
        layers.BatchNormalization(),
        layers.LeakyReLU(),
        layers.Reshape((8, 8, 64)),
        layers.Conv2DTranspose(64, 4, strides=2, padding="same"),
        layers.BatchNormalization(),
        layers.LeakyReLU(),
        layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
    ], name="generator")


def make_critic():
    return tf.keras.Sequential([
        tf.keras.Input((32, 32, 1)),
        layers.Conv2D(48, 4, strides=2, padding="same"),
        layers.LeakyReLU(),
        layers.Dropout(0.3),
        layers.Conv2D(96, 4, strides=2, padding="same"),
        layers.LeakyReLU(),
        layers.Dropout(0.3),
        layers.Flatten(),
        layers.Dense(1),
    ], name="critic")


class Game:
    def __init__(self):
        self.gen, self.dis = make_generator(), make_critic()
        self.g_opt = tf.keras.optimizers.Adam(3e-4, beta_1=0.5)
        self.d_opt = tf.keras.optimizers.Adam(3e-4, beta_1=0.5)
        self.g_opt.build(self.gen.trainable_variables)
        self.d_opt.build(self.dis.trainable_variables)
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def play(self, real):
        noise = tf.random.normal((tf.shape(real)[0], NOISE))
        with tf.GradientTape() as gt, tf.GradientTape() as dt:
            fake = self.gen(noise, training=True)
            on_real = self.dis(real, training=True)
            on_fake = self.dis(fake, training=True)
            g_loss = self.bce(tf.ones_like(on_fake), on_fake)
            d_loss = self.bce(tf.ones_like(on_real), on_real) + self.bce(tf.zeros_like(on_fake), on_fake)
        g_vars, d_vars = self.gen.trainable_variables, self.dis.trainable_variables
        self.g_opt.apply_gradients(zip(gt.gradient(g_loss, g_vars), g_vars))
        self.d_opt.apply_gradients(zip(dt.gradient(d_loss, d_vars), d_vars))
        return g_loss, d_loss


data = tf.data.Dataset.from_tensor_slices(icons()).shuffle(6000).repeat().batch(64).prefetch(tf.data.AUTOTUNE)
game = Game()
mark = time.time()
for step, real in enumerate(data, 1):
    g_loss, d_loss = game.play(real)
    if step % 20 == 0:
        now = time.time()
        print("%6d   G %.3f   D %.3f   (%.0f img/s)" % (step, g_loss, d_loss, 20 * 64 / (now - mark)), flush=True)
        mark = now
