# python: tensorflow
# expected: retracing
# verdict: slow
# seconds: 30
# where: train_step(batch, weight) / def train_step
# Why: the KL weight is a Python float that changes every step, and a tf.function is traced anew for each new Python value.
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import time

import numpy as np
import tensorflow as tf

LENGTH = 256
LATENT = 12
WARMUP_STEPS = 60_000
rng = np.random.default_rng(3)


def traces(n):
    """Synthetic seismograms: a P arrival, an S arrival, and coloured noise."""
    t = np.arange(LENGTH)[None, :]
    p = rng.integers(20, 90, size=(n, 1))
    s = p + rng.integers(30, 100, size=(n, 1))
    f = rng.uniform(0.2, 0.6, size=(n, 1))
    wave = np.where(t > p, np.exp(-(t - p) / 30.0) * np.sin(f * (t - p)), 0)
    wave += np.where(t > s, 2 * np.exp(-(t - s) / 45.0) * np.sin(0.6 * f * (t - s)), 0)
    return (wave + 0.05 * rng.standard_normal((n, LENGTH))).astype("float32")


encoder = tf.keras.Sequential([
    tf.keras.Input((LENGTH, 1)),
    tf.keras.layers.Conv1D(16, 7, strides=2, activation="relu", padding="same"),
    tf.keras.layers.Conv1D(32, 7, strides=2, activation="relu", padding="same"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(2 * LATENT),
])
decoder = tf.keras.Sequential([
    tf.keras.Input((LATENT,)),
    tf.keras.layers.Dense(128, activation="relu"),
    tf.keras.layers.Dense(LENGTH),
])
optimizer = tf.keras.optimizers.Adam(1e-3)
variables = encoder.trainable_variables + decoder.trainable_variables
optimizer.build(variables)


@tf.function
def train_step(batch, weight):
    with tf.GradientTape() as tape:
        mean, logvar = tf.split(encoder(batch[..., None], training=True), 2, axis=-1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        recon = tf.reduce_mean(tf.reduce_sum((decoder(z, training=True) - batch) ** 2, -1))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), -1))
        loss = recon + weight * kl
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss, recon, kl


data = tf.data.Dataset.from_tensor_slices(traces(8000)).shuffle(8000).repeat().batch(64).prefetch(2)

start = time.time()
for step, batch in enumerate(data):
    weight = min(1.0, step / WARMUP_STEPS)
    loss, recon, kl = train_step(batch, weight)
    if step % 10 == 0:
        print(f"step {step} loss {loss:.3f} recon {recon:.3f} kl {kl:.3f} beta {weight:.4f} "
              f"({time.time() - start:.1f}s)", flush=True)
