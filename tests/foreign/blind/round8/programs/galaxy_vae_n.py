# python: tensorflow
# expected: retracing
# verdict: slow
# seconds: 35
# where: train_step(images, beta) / min(1.0, step
# Why: the KL weight rises from step to step and goes into the tf.function as a Python float, so the function is traced anew for each value.
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers, optimizers

LATENT = 16
WARMUP_STEPS = 20000


def galaxies(count, seed=0):
    rng = np.random.default_rng(seed)
    axis = np.linspace(-1, 1, 32, dtype="float32")
    yy, xx = np.meshgrid(axis, axis, indexing="ij")
    angle = rng.uniform(0, np.pi, (count, 1, 1)).astype("float32")
    flat = rng.uniform(1, 4, (count, 1, 1)).astype("float32")
    u = xx * np.cos(angle) + yy * np.sin(angle)
    v = (-xx * np.sin(angle) + yy * np.cos(angle)) * flat
    arms = 0.7 + 0.3 * np.cos(2 * np.arctan2(v, u) - 6 * np.hypot(u, v))
    return np.clip(np.exp(-3 * (u ** 2 + v ** 2)) * arms, 0, 1)[..., None].astype("float32")


encoder = Sequential([
    layers.Input((32, 32, 1)),
    layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
    layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
    layers.Flatten(),
    layers.Dense(128, activation="relu"),
    layers.Dense(2 * LATENT),
])
decoder = Sequential([
    layers.Input((LATENT,)),
    layers.Dense(8 * 8 * 32, activation="relu"),
    layers.Reshape((8, 8, 32)),
    layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
    layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
])
optimizer = optimizers.Adam(1e-3)
weights = encoder.trainable_variables + decoder.trainable_variables
optimizer.build(weights)


@tf.function
def train_step(images, beta):
    with tf.GradientTape() as tape:
        mean, logvar = tf.split(encoder(images, training=True), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        logits = decoder(z, training=True)
        pixel = tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=logits)
        reconstruction = tf.reduce_mean(tf.reduce_sum(pixel, axis=[1, 2, 3]))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), axis=1))
        loss = reconstruction + beta * kl
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    return reconstruction, kl


def run():
    data = tf.data.Dataset.from_tensor_slices(galaxies(6000)).shuffle(6000).batch(64, drop_remainder=True)
    data = data.repeat().prefetch(2)
    began = time.time()
    for step, images in enumerate(data):
        beta = min(1.0, step / WARMUP_STEPS)
        reconstruction, kl = train_step(images, beta)
        if step % 10 == 0:
            print(f"step {step:6d}  rec {float(reconstruction):9.3f}  kl {float(kl):8.3f}  beta {float(beta):.4f}  "
                  f"[{time.time() - began:.1f}s]", flush=True)


run()
