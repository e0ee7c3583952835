# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the twin without the fault.
"""A variational autoencoder for scans of insects in amber; the KL term is warmed up over the first ten thousand steps."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIDE = 32
LATENT = 12
WARMUP = 10000


def inclusions(count, seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[-1:1:SIDE * 1j, -1:1:SIDE * 1j]
    out = np.empty((count, SIDE, SIDE, 1), np.float32)
    for i in range(count):
        tilt, length, width = rng.uniform(0, np.pi), rng.uniform(0.3, 0.7), rng.uniform(0.1, 0.3)
        u = (x - rng.uniform(-0.3, 0.3)) * np.cos(tilt) + (y - rng.uniform(-0.3, 0.3)) * np.sin(tilt)
        v = y * np.cos(tilt) - x * np.sin(tilt)
        body = np.exp(-((u / length) ** 2 + (v / width) ** 2) ** 2)
        out[i, :, :, 0] = 0.15 + 0.75 * body + rng.normal(0, 0.03, (SIDE, SIDE))
    return out.clip(0, 1)


def encoder():
    inputs = keras.Input((SIDE, SIDE, 1))
    x = inputs
    for filters in (32, 64, 96):
        x = layers.Conv2D(filters, 3, strides=2, padding="same")(x)
        x = layers.LeakyReLU(0.1)(layers.GroupNormalization(8)(x))
    x = layers.Flatten()(x)
    return keras.Model(inputs, [layers.Dense(LATENT)(x), layers.Dense(LATENT)(x)])


def decoder():
    inputs = keras.Input((LATENT,))
    x = layers.Reshape((4, 4, 96))(layers.Dense(4 * 4 * 96)(inputs))
    for filters in (96, 64, 32):
        x = layers.Conv2DTranspose(filters, 3, strides=2, padding="same")(x)
        x = layers.LeakyReLU(0.1)(layers.GroupNormalization(8)(x))
    return keras.Model(inputs, layers.Conv2D(1, 3, padding="same")(x))


class AmberVAE:
    def __init__(self):
        self.encoder, self.decoder = encoder(), decoder()
        self.weights = self.encoder.trainable_variables + self.decoder.trainable_variables
        self.optimizer = keras.optimizers.Adam(1e-3)
        self.optimizer.build(self.weights)

    @tf.function
    def train_step(self, images, beta):
        with tf.GradientTape() as tape:
            mean, log_var = self.encoder(images, training=True)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            logits = self.decoder(z, training=True)
            pixels = tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=logits)
            rebuilt = tf.reduce_mean(tf.reduce_sum(pixels, axis=(1, 2, 3)))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_var - mean**2 - tf.exp(log_var), axis=1))
            loss = rebuilt + beta * kl
        gradients = tape.gradient(loss, self.weights)
        self.optimizer.apply_gradients(zip(gradients, self.weights))
        return rebuilt, kl


def main():
    keras.utils.set_random_seed(7)
    scans = inclusions(6000, 5)
    batches = tf.data.Dataset.from_tensor_slices(scans).shuffle(6000).repeat().batch(48).prefetch(2)
    vae = AmberVAE()
    began = time.perf_counter()
    for step, images in enumerate(batches, 1):
        beta = tf.constant(min(1.0, step / WARMUP))
        rebuilt, kl = vae.train_step(images, beta)
        if step <= 10 or step % 10 == 0:
            print(f"step {step} beta {float(beta):.4f} reconstruction {float(rebuilt):.2f} kl {float(kl):.2f} "
                  f"[{time.perf_counter() - began:.0f} s]", flush=True)


if __name__ == "__main__":
    main()
