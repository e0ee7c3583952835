# python: tensorflow
# expected: retracing
# verdict: slow
# seconds: 30
# where: train_step( / kl_weight
# Why: The weight of the KL term is annealed as a Python float and passed to the tf.function: every new value is a new trace.
import sys
import time

import numpy as np
import tensorflow as tf

LATENT = 16
WARMUP = 20000


def draw_digits(count, rng):
    """Rough strokes on a 28 x 28 canvas."""
    yy, xx = np.mgrid[0:28, 0:28].astype("float32")
    centre = rng.uniform(9, 19, (count, 2)).astype("float32")
    radius = rng.uniform(3, 9, count).astype("float32")
    ring = np.hypot(yy[None] - centre[:, :1, None], xx[None] - centre[:, 1:, None])
    ring = np.exp(-0.5 * (ring - radius[:, None, None]) ** 2)
    bar = np.exp(-0.5 * (xx[None] - centre[:, 1:, None]) ** 2) * (rng.random(count) < 0.5)[:, None, None]
    return np.clip(ring + bar, 0, 1).astype("float32")[..., None]


class VAE(tf.keras.Model):
    def __init__(self):
        super().__init__()
        L = tf.keras.layers
        self.encoder = tf.keras.Sequential([
            tf.keras.Input((28, 28, 1)),
            L.Conv2D(24, 3, 2, "same", activation="relu"),
            L.Conv2D(48, 3, 2, "same", activation="relu"),
            L.Flatten(),
            L.Dense(128, activation="relu"),
            L.Dense(2 * LATENT),
        ])
        self.decoder = tf.keras.Sequential([
            tf.keras.Input((LATENT,)),
            L.Dense(7 * 7 * 32, activation="relu"),
            L.Reshape((7, 7, 32)),
            L.Conv2DTranspose(48, 3, 2, "same", activation="relu"),
            L.Conv2DTranspose(24, 3, 2, "same", activation="relu"),
            L.Conv2D(1, 3, padding="same"),
        ])

    def call(self, x):
        mean, logvar = tf.split(self.encoder(x), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, logvar


vae = VAE()
vae(tf.zeros((1, 28, 28, 1)))
opt = tf.keras.optimizers.Adam(1e-3)
opt.build(vae.trainable_variables)


@tf.function
def train_step(x, kl_weight):
    with tf.GradientTape() as tape:
        logits, mean, logvar = vae(x)
        recon = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=[1, 2, 3])
        kl = -0.5 * tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), axis=1)
        loss = tf.reduce_mean(recon + kl_weight * kl)
    grads = tape.gradient(loss, vae.trainable_variables)
    opt.apply_gradients(zip(grads, vae.trainable_variables))
    return loss, tf.reduce_mean(kl)


digits = draw_digits(8000, np.random.default_rng(0))
data = tf.data.Dataset.from_tensor_slices(digits).shuffle(8000).batch(64, drop_remainder=True).repeat().prefetch(2)

t0 = time.time()
for step, batch in enumerate(data):
    kl_weight = min(1.0, step / WARMUP)
    loss, kl = train_step(batch, kl_weight)
    if step % 5 == 0:
        sys.stdout.write(f"[{time.time() - t0:7.1f}s] step {step:6d}  elbo {-float(loss):9.2f}  kl {float(kl):7.2f}  w {kl_weight:.4f}\n")
        sys.stdout.flush()
