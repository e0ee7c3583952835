# python: tensorflow
# expected: retracing
# verdict: slow
# seconds: 30
# where: train_step(images, beta)
# Why: the weight of the KL term is a Python float that changes every twenty steps, and each new value makes tf.function trace anew.
"""A variational autoencoder of worn coin faces (synthetic), with the KL term faded in over the first steps."""
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

SIDE = 32
LATENT = 12
BATCH = 256
STEPS = 40_000
WARM_UP = 20_000


def make_coins(count, rng):
    """A disc with a rim and a few strokes, off the centre and worn."""
    grid = np.linspace(-1.0, 1.0, SIDE, dtype="float32")
    y, x = np.meshgrid(grid, grid, indexing="ij")
    dx, dy = rng.uniform(-0.15, 0.15, (2, count, 1, 1)).astype("float32")
    angle = rng.uniform(0.0, np.pi, (count, 1, 1)).astype("float32")
    radius = np.hypot(x - dx, y - dy)
    rim = np.exp(-((radius - 0.75) / 0.08) ** 2)
    along = (x - dx) * np.cos(angle) + (y - dy) * np.sin(angle)
    stroke = np.exp(-(along / 0.12) ** 2) * (radius < 0.6)
    return (0.2 + 0.5 * rim + 0.3 * stroke)[..., None].clip(0.0, 1.0).astype("float32")


class Coins(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([
            keras.layers.Input((SIDE, SIDE, 1)),
            keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(2 * LATENT),
        ])
        self.decoder = keras.Sequential([
            keras.layers.Input((LATENT,)),
            keras.layers.Dense(8 * 8 * 32, activation="relu"),
            keras.layers.Reshape((8, 8, 32)),
            keras.layers.Conv2DTranspose(32, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
        ])

    def call(self, images):
        mean, spread = tf.split(self.encoder(images), 2, axis=-1)
        latent = mean + tf.exp(0.5 * spread) * tf.random.normal(tf.shape(mean))
        return self.decoder(latent), mean, spread


keras.utils.set_random_seed(2)
model = Coins()
optimizer = keras.optimizers.Adam(5e-4)


@tf.function
def train_step(images, beta):
    with tf.GradientTape() as tape:
        logits, mean, spread = model(images)
        crossed = tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=logits)
        rebuild = tf.reduce_mean(tf.reduce_sum(crossed, axis=(1, 2, 3)))
        divergence = -0.5 * tf.reduce_mean(tf.reduce_sum(1.0 + spread - mean**2 - tf.exp(spread), axis=1))
        loss = rebuild + beta * divergence
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, divergence


def main():
    coins = make_coins(8_000, np.random.default_rng(2))
    model(coins[:2])
    optimizer.build(model.trainable_variables)
    batches = tf.data.Dataset.from_tensor_slices(coins).shuffle(8_000).repeat().batch(BATCH).prefetch(4)
    began = time.time()
    for step, images in enumerate(batches.take(STEPS), 1):
        beta = round(min(1.0, step / WARM_UP), 3)
        loss, divergence = train_step(images, beta)
        if step % 5 == 0:
            print(f"step {step}/{STEPS} loss {float(loss):.2f} kl {float(divergence):.2f} beta {float(beta):.4f} "
                  f"{time.time() - began:.1f}s", flush=True)
    model.encoder.save("coin_encoder.keras")


if __name__ == "__main__":
    main()
