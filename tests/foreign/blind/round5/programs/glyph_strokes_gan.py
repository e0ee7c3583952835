# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: a GAN whose two losses swing against each other, as they should; the data lie in memory and the two nets are the work.
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

NOISE = 48


def glyphs(n=8000, side=28):
    """Two random strokes per glyph, drawn as distance fields."""
    rng = np.random.default_rng(9)
    grid = np.stack(np.mgrid[0:side, 0:side], -1).reshape(1, -1, 2).astype("float32")
    image = np.zeros((n, side * side), "float32")
    for _ in range(2):
        a, b = rng.uniform(4, side - 4, (2, n, 1, 2)).astype("float32")
        ab = b - a
        t = ((grid - a) * ab).sum(-1, keepdims=True) / (ab ** 2).sum(-1, keepdims=True)
        dist = np.linalg.norm(grid - (a + np.clip(t, 0, 1) * ab), axis=-1)
        image = np.maximum(image, np.clip(2.0 - dist, 0, 1))
    return (image * 2 - 1).reshape(n, side, side, 1)


def make_generator():
    return keras.Sequential([
        keras.Input((NOISE,)),
        layers.Dense(7 * 7 * 96),
        layers.Reshape((7, 7, 96)),
        layers.BatchNormalization(),
        layers.LeakyReLU(0.2),
        layers.Conv2DTranspose(48, 4, strides=2, padding="same"),
        layers.BatchNormalization(),
        layers.LeakyReLU(0.2),
        layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
    ], name="generator")


def make_critic():
    return keras.Sequential([
        keras.Input((28, 28, 1)),
        layers.Conv2D(48, 4, strides=2, padding="same"),
        layers.LeakyReLU(0.2),
        layers.Conv2D(96, 4, strides=2, padding="same"),
        layers.LeakyReLU(0.2),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(1),
    ], name="critic")


class GlyphGAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.gen, self.critic = make_generator(), make_critic()
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)
        self.g_metric = keras.metrics.Mean("g_loss")
        self.d_metric = keras.metrics.Mean("d_loss")

    def compile(self):
        super().compile()
        self.g_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.d_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)

    @property
    def metrics(self):
        return [self.g_metric, self.d_metric]

    def train_step(self, real):
        n = ops.shape(real)[0]
        with tf.GradientTape() as tape:
            fake = self.gen(tf.random.normal((n, NOISE)), training=True)
            logit_r, logit_f = self.critic(real, training=True), self.critic(fake, training=True)
            d_loss = self.bce(tf.ones_like(logit_r) * 0.9, logit_r) + self.bce(tf.zeros_like(logit_f), logit_f)
        w = self.critic.trainable_weights
        self.d_opt.apply(tape.gradient(d_loss, w), w)
        with tf.GradientTape() as tape:
            logit_f = self.critic(self.gen(tf.random.normal((n, NOISE)), training=True), training=True)
            g_loss = self.bce(tf.ones_like(logit_f), logit_f)
        w = self.gen.trainable_weights
        self.g_opt.apply(tape.gradient(g_loss, w), w)
        self.g_metric.update_state(g_loss)
        self.d_metric.update_state(d_loss)
        return {"g_loss": self.g_metric.result(), "d_loss": self.d_metric.result()}


data = tf.data.Dataset.from_tensor_slices(glyphs()).shuffle(8000).batch(64, drop_remainder=True).prefetch(2)
gan = GlyphGAN()
gan.compile()
gan.fit(data, epochs=300)
