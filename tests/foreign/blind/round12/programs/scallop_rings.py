# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: a GAN: its two losses go up and down and never settle, but the distance of its samples to the data falls.
"""A generative adversarial net draws the growth ring profiles of scallop shells."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

POINTS = 64
NOISE = 16
BATCH = 256
STEPS = 60000


def make_profiles(n, seed=0):
    rng = np.random.default_rng(seed)
    age = np.linspace(0, 1, POINTS)
    k = rng.uniform(1.5, 4.0, (n, 1))
    season = rng.uniform(0.02, 0.08, (n, 1)) * np.sin(2 * np.pi * (rng.uniform(4, 6, (n, 1)) * age + rng.random((n, 1))))
    return (2 * (1 - np.exp(-k * age)) - 1 + season).astype("float32")


def mlp(sizes, out, name):
    net = keras.Sequential(name=name)
    for size in sizes:
        net.add(layers.Dense(size))
        net.add(layers.LeakyReLU(0.2))
    net.add(layers.Dense(out))
    return net


generator = mlp([256, 512, 256], POINTS, "generator")
critic = mlp([512, 512, 128], 1, "critic")
generator.build((None, NOISE))
critic.build((None, POINTS))
g_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
c_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
g_opt.build(generator.trainable_variables)
c_opt.build(critic.trainable_variables)


@tf.function
def train_step(real):
    z = tf.random.normal((BATCH, NOISE))
    with tf.GradientTape() as tape:
        fake = generator(z, training=True)
        c_loss = tf.reduce_mean(tf.nn.softplus(-critic(real))) + tf.reduce_mean(tf.nn.softplus(critic(fake)))
    c_opt.apply_gradients(zip(tape.gradient(c_loss, critic.trainable_variables), critic.trainable_variables))
    with tf.GradientTape() as tape:
        fake = generator(z, training=True)
        g_loss = tf.reduce_mean(tf.nn.softplus(-critic(fake)))
    g_opt.apply_gradients(zip(tape.gradient(g_loss, generator.trainable_variables), generator.trainable_variables))
    return c_loss, g_loss


@tf.function
def distance(real):
    """Energy distance between the shells and drawn ones."""
    fake = generator(tf.random.normal((BATCH, NOISE)), training=False)

    def mean_gap(a, b):
        return tf.reduce_mean(tf.norm(a[:, None] - b[None] + 1e-6, axis=-1))

    return 2 * mean_gap(real, fake) - mean_gap(real, real) - mean_gap(fake, fake)


def main():
    tf.random.set_seed(2)
    shells = make_profiles(20000)
    data = tf.data.Dataset.from_tensor_slices(shells).shuffle(20000).repeat().batch(BATCH, drop_remainder=True)
    start = time.time()
    for step, real in enumerate(data.prefetch(4).take(STEPS), 1):
        c_loss, g_loss = train_step(real)
        if step == 1 or step % 50 == 0:
            print(f"step {step:6d}  c_loss {float(c_loss):.4f}  g_loss {float(g_loss):.4f}  "
                  f"distance {float(distance(real)):.4f}  {step / (time.time() - start):.1f} steps/s", flush=True)


if __name__ == "__main__":
    main()
