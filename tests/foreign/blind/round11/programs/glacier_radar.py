# python: tensorflow
# expected: retracing
# verdict: slow
# seconds: 30
# where: train_step(
# Why: the weight of the KL term goes into the tf.function as a Python float that is another one at each step, so each step is traced anew.
"""A variational autoencoder of radar echoes from glacier beds."""
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

LATENT = 12
TRACE = 256
WARMUP = 20000


def echoes(n, seed=0):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, TRACE, dtype="float32")[None]
    depth = rng.uniform(0.2, 0.8, (n, 1)).astype("float32")
    tone = rng.uniform(20, 60, (n, 1)).astype("float32")
    fade = rng.uniform(4, 12, (n, 1)).astype("float32")
    wave = np.exp(-fade * np.abs(t - depth)) * np.cos(tone * (t - depth))
    return (wave + 0.05 * rng.standard_normal((n, TRACE))).astype("float32")


encoder = keras.Sequential([
    keras.Input((TRACE,)),
    layers.Dense(256, activation="elu"),
    layers.Dense(128, activation="elu"),
    layers.Dense(2 * LATENT),
], name="encoder")

decoder = keras.Sequential([
    keras.Input((LATENT,)),
    layers.Dense(128, activation="elu"),
    layers.Dense(256, activation="elu"),
    layers.Dense(TRACE),
], name="decoder")

optimizer = keras.optimizers.Adam(1e-3)
weights = encoder.trainable_variables + decoder.trainable_variables
optimizer.build(weights)


@tf.function
def train_step(batch, beta):
    with tf.GradientTape() as tape:
        mean, logvar = tf.split(encoder(batch, training=True), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        rebuilt = decoder(z, training=True)
        fit = tf.reduce_mean(tf.reduce_sum(tf.square(batch - rebuilt), axis=1))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), axis=1))
        loss = fit + beta * kl
    grads = tape.gradient(loss, weights)
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, weights))
    return fit, kl


def main():
    data = echoes(12000)
    ds = (tf.data.Dataset.from_tensor_slices(data)
          .shuffle(12000).repeat().batch(128, drop_remainder=True).prefetch(2))
    started = time.time()
    for step, batch in enumerate(ds.take(200000)):
        beta = min(1.0, (step + 1) / WARMUP)
        fit, kl = train_step(batch, beta)
        if step % 20 == 0:
            print(f"step {step:6d}  rebuild {float(fit):8.3f}  kl {float(kl):7.3f}  "
                  f"beta {beta:.3f}  {time.time() - started:6.1f}s", flush=True)


if __name__ == "__main__":
    main()
