# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: a GAN whose two losses swing against each other; the work is the two convolutional networks.
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

NOISE = 64


def coins(count):
    rng = np.random.default_rng(9)
    axis = np.linspace(-1, 1, 32, dtype="float32")
    yy, xx = np.meshgrid(axis, axis, indexing="ij")
    radius = rng.uniform(0.5, 0.9, (count, 1, 1))
    teeth = rng.integers(4, 12, (count, 1, 1))
    rim = np.hypot(xx, yy)
    relief = 0.5 + 0.4 * np.cos(teeth * np.arctan2(yy, xx)) * (rim < 0.6 * radius)
    return np.where(rim < radius, relief, -0.9)[..., None].astype("float32")


def generator():
    return tf.keras.Sequential([
        layers.Input((NOISE,)),
        layers.Dense(4 * 4 * 128), layers.BatchNormalization(), layers.LeakyReLU(0.2),
        layers.Reshape((4, 4, 128)),
        layers.Conv2DTranspose(96, 4, strides=2, padding="same"), layers.BatchNormalization(), layers.LeakyReLU(0.2),
        layers.Conv2DTranspose(48, 4, strides=2, padding="same"), layers.BatchNormalization(), layers.LeakyReLU(0.2),
        layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
    ], name="mint")


def critic():
    return tf.keras.Sequential([
        layers.Input((32, 32, 1)),
        layers.Conv2D(48, 4, strides=2, padding="same"), layers.LeakyReLU(0.2),
        layers.Conv2D(96, 4, strides=2, padding="same"), layers.LeakyReLU(0.2), layers.Dropout(0.3),
        layers.Conv2D(128, 4, strides=2, padding="same"), layers.LeakyReLU(0.2),
        layers.Flatten(), layers.Dense(1),
    ], name="expert")


class CoinGAN:
    def __init__(self):
        self.mint, self.expert = generator(), critic()
        self.mint_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.expert_opt = tf.keras.optimizers.Adam(4e-4, beta_1=0.5)
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def step(self, real):
        noise = tf.random.normal((tf.shape(real)[0], NOISE))
        with tf.GradientTape() as mint_tape, tf.GradientTape() as expert_tape:
            fake = self.mint(noise, training=True)
            on_real, on_fake = self.expert(real, training=True), self.expert(fake, training=True)
            expert_loss = self.bce(0.9 * tf.ones_like(on_real), on_real) + self.bce(tf.zeros_like(on_fake), on_fake)
            mint_loss = self.bce(tf.ones_like(on_fake), on_fake)
        g = mint_tape.gradient(mint_loss, self.mint.trainable_variables)
        d = expert_tape.gradient(expert_loss, self.expert.trainable_variables)
        self.mint_opt.apply_gradients(zip(g, self.mint.trainable_variables))
        self.expert_opt.apply_gradients(zip(d, self.expert.trainable_variables))
        return mint_loss, expert_loss


gan = CoinGAN()
stock = tf.data.Dataset.from_tensor_slices(coins(5000)).shuffle(5000).repeat().batch(64).prefetch(tf.data.AUTOTUNE)
began = time.time()
for step, real in enumerate(stock.take(100000), start=1):
    mint_loss, expert_loss = gan.step(real)
    if step % 10 == 0:
        print(f"[{time.time() - began:6.1f}s] step {step} g_loss={mint_loss.numpy():.3f} d_loss={expert_loss.numpy():.3f}", flush=True)
