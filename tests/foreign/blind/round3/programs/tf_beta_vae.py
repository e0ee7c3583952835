# python: tensorflow
# expected: retracing [also accepted: first-step-compiling]
# verdict: slow
# seconds: 35
# where: train_step(batch, beta) / beta = min(
# Why: the KL weight is annealed as a Python float and passed to a tf.function, so every step has a new signature and is traced anew. Happens to
# everyone who adds a warm-up coefficient to a working loop.
import numpy as np
import tensorflow as tf
from tensorflow import keras

LATENT = 16
WARMUP = 4000


def make_images(n, side=28, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:side, 0:side]
    cx, cy = rng.uniform(6, 22, (2, n, 1, 1))
    r = rng.uniform(3, 8, (n, 1, 1))
    img = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * r ** 2))
    return img[..., None].astype("float32")


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([
            keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(2 * LATENT),
        ])
        self.decoder = keras.Sequential([
            keras.layers.Dense(7 * 7 * 32, activation="relu"),
            keras.layers.Reshape((7, 7, 32)),
            keras.layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
        ])

    def call(self, x):
        mean, logvar = tf.split(self.encoder(x), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, logvar


images = make_images(6000)
model = VAE()
model(images[:2])
optimizer = keras.optimizers.Adam(1e-3)
dataset = (tf.data.Dataset.from_tensor_slices(images)
           .shuffle(2000).batch(64, drop_remainder=True).repeat().prefetch(2))


@tf.function
def train_step(batch, beta):
    with tf.GradientTape() as tape:
        logits, mean, logvar = model(batch)
        rec = tf.reduce_mean(tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=batch, logits=logits), axis=[1, 2, 3]))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), axis=1))
        loss = rec + beta * kl
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return rec, kl


for step, batch in enumerate(dataset.take(6000)):
    beta = min(1.0, step / WARMUP)
    rec, kl = train_step(batch, beta)
    if step % 10 == 0:
        print(f"step {step} rec {float(rec):.2f} kl {float(kl):.2f} beta {float(beta):.4f}", flush=True)
