# python: tensorflow
# expected: retracing
# verdict: slow
# seconds: 30
# where: train_step(
# Why: the annealed weight of the KL term is a Python float, new at every step, so the tf.function is traced again at every step.
"""A variational autoencoder for small drawn glyphs, with the KL term annealed in."""
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIZE, LATENT, BATCH = 28, 12, 64
STEPS, ANNEAL = 30000, 20000


def draw_glyphs(count, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")
    glyphs = np.zeros((count, SIZE, SIZE, 1), "float32")
    for i in range(count):
        cx, cy = rng.uniform(9, 19, 2)
        radius, width = rng.uniform(4, 9), rng.uniform(1.0, 2.2)
        ring = np.exp(-((np.hypot(xx - cx, yy - cy) - radius) / width) ** 2)
        slope = rng.uniform(-1, 1)
        stroke = np.exp(-((yy - cy - slope * (xx - cx)) / width) ** 2)
        glyphs[i, :, :, 0] = np.clip(ring + 0.7 * stroke, 0, 1)
    return glyphs


encoder = keras.Sequential([
    keras.Input((SIZE, SIZE, 1)),
    keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
    keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
    keras.layers.Flatten(),
    keras.layers.Dense(96, activation="relu"),
    keras.layers.Dense(2 * LATENT),
])
decoder = keras.Sequential([
    keras.Input((LATENT,)),
    keras.layers.Dense(7 * 7 * 32, activation="relu"),
    keras.layers.Reshape((7, 7, 32)),
    keras.layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
    keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
])
weights = encoder.trainable_variables + decoder.trainable_variables
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(weights)


@tf.function
def train_step(images, beta):
    with tf.GradientTape() as tape:
        mean, logvar = tf.split(encoder(images, training=True), 2, axis=-1)
        code = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        logits = decoder(code, training=True)
        pixels = tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=logits)
        rebuilt = tf.reduce_mean(tf.reduce_sum(pixels, axis=[1, 2, 3]))
        kl = tf.reduce_mean(-0.5 * tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), axis=1))
        loss = rebuilt + beta * kl
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return rebuilt, kl


def main():
    rng = np.random.default_rng(3)
    glyphs = draw_glyphs(6000, rng)
    batches = iter(tf.data.Dataset.from_tensor_slices(glyphs)
                   .shuffle(6000).repeat().batch(BATCH, drop_remainder=True).prefetch(2))
    began = time.time()
    for step in range(1, STEPS + 1):
        beta = min(1.0, step / ANNEAL)
        rebuilt, kl = train_step(next(batches), beta)
        if step % 10 == 0:
            rate = step / (time.time() - began)
            print(f"step {step:6d}  rebuilt {rebuilt:8.2f}  kl {kl:7.2f}  beta {beta:.4f}  {rate:.1f} steps/s")


if __name__ == "__main__":
    main()
