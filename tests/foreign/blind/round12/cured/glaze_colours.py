# python: tensorflow
"""A variational autoencoder of the reflectance curves of pottery glazes."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

WAVELENGTHS = 120
LATENT = 6
BATCH = 128
STEPS = 30000
WARMUP = 20000


def make_curves(n, seed=0):
    rng = np.random.default_rng(seed)
    nm = np.linspace(0, 1, WAVELENGTHS)
    centre = rng.uniform(0.1, 0.9, (n, 3, 1))
    width = rng.uniform(0.05, 0.2, (n, 3, 1))
    depth = rng.uniform(0, 0.4, (n, 3, 1))
    curve = 0.9 - (depth * np.exp(-((nm - centre) / width) ** 2)).sum(1)
    return (curve + rng.normal(0, 0.01, curve.shape)).astype("float32")


class GlazeVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = keras.Sequential([layers.Dense(256, activation="gelu"),
                                     layers.Dense(128, activation="gelu"),
                                     layers.Dense(2 * LATENT)])
        self.dec = keras.Sequential([layers.Dense(128, activation="gelu"),
                                     layers.Dense(256, activation="gelu"),
                                     layers.Dense(WAVELENGTHS)])

    def call(self, x):
        mean, logvar = tf.split(self.enc(x), 2, axis=-1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.dec(z), mean, logvar


model = GlazeVAE()
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def train_step(x, beta):
    with tf.GradientTape() as tape:
        recon, mean, logvar = model(x)
        error = tf.reduce_mean(tf.reduce_sum(tf.square(recon - x), -1))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), -1))
        loss = error + beta * kl
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return error, kl


def main():
    tf.random.set_seed(5)
    curves = make_curves(20000)
    data = tf.data.Dataset.from_tensor_slices(curves).shuffle(20000, seed=1).repeat()
    data = data.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    model(curves[:2])
    optimizer.build(model.trainable_variables)
    start = time.time()
    for step, batch in enumerate(data.take(STEPS), 1):
        beta = tf.constant(0.01 * min(1.0, step / WARMUP), tf.float32)
        error, kl = train_step(batch, beta)
        if step % 10 == 0:
            print(f"step {step:6d}  recon {float(error):8.4f}  kl {float(kl):8.3f}  beta {float(beta):.6f}  "
                  f"{time.time() - start:6.1f} s", flush=True)
    model.save_weights("/tmp/glaze_colours.weights.h5")


if __name__ == "__main__":
    main()
