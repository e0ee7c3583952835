# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# how: attach
# Why: the loss of a diffusion model jumps from batch to batch (levels of noise are drawn); its mean falls. The averaged weights are a second model that is not trained, rightly.
"""A diffusion model of patina on bronze: grey patches, v-prediction, an average of the weights for the samples."""
import math
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

SIDE, BATCH = 32, 12


def patina(count, seed):
    rng = np.random.default_rng(seed)
    fy, fx = np.meshgrid(np.fft.fftfreq(SIDE), np.fft.rfftfreq(SIDE), indexing="ij")
    slope = rng.uniform(1.2, 2.2, (count, 1, 1))
    spectrum = np.hypot(fy, fx)[None]
    spectrum[:, 0, 0] = 1
    noise = np.fft.rfft2(rng.normal(0, 1, (count, SIDE, SIDE)))
    patches = np.fft.irfft2(noise * spectrum**-slope, s=(SIDE, SIDE))
    patches = (patches - patches.mean((1, 2), keepdims=True)) / patches.std((1, 2), keepdims=True)
    return np.tanh(1.5 * patches)[..., None].astype("float32")


class NoiseLevel(layers.Layer):
    def call(self, level):
        angles = level * ops.convert_to_tensor(np.geomspace(1, 500, 24), "float32")[None]
        return ops.concatenate([ops.sin(angles), ops.cos(angles)], axis=-1)


def denoiser():
    picture, level = keras.Input((SIDE, SIDE, 1)), keras.Input((1,))
    told = layers.Dense(128, activation="swish")(NoiseLevel()(level))

    def block(x, filters):
        if x.shape[-1] != filters:
            x = layers.Conv2D(filters, 1)(x)
        y = layers.Conv2D(filters, 3, padding="same")(layers.Activation("swish")(layers.GroupNormalization(8)(x)))
        y = y + layers.Reshape((1, 1, filters))(layers.Dense(filters)(told))
        y = layers.Conv2D(filters, 3, padding="same", kernel_initializer="zeros")(layers.Activation("swish")(y))
        return x + y

    top = block(layers.Conv2D(32, 3, padding="same")(picture), 32)
    middle = block(layers.AveragePooling2D(2)(top), 64)
    bottom = block(block(layers.AveragePooling2D(2)(middle), 96), 96)
    x = block(layers.Concatenate()([layers.UpSampling2D()(bottom), middle]), 64)
    x = block(layers.Concatenate()([layers.UpSampling2D()(x), top]), 32)
    return keras.Model([picture, level], layers.Conv2D(1, 3, padding="same", kernel_initializer="zeros")(x))


keras.utils.set_random_seed(31)
model, average = denoiser(), denoiser()
average.set_weights(model.get_weights())
average.trainable = False
optimizer = keras.optimizers.Adam(6e-4)
data = tf.data.Dataset.from_tensor_slices(patina(4000, 2)).shuffle(4000).repeat().batch(BATCH).prefetch(tf.data.AUTOTUNE)


@tf.function
def train(clean):
    level = tf.random.uniform([BATCH, 1])
    signal, noisy = (part[:, :, None, None] for part in (tf.cos(level * math.pi / 2), tf.sin(level * math.pi / 2)))
    noise = tf.random.normal(tf.shape(clean))
    with tf.GradientTape() as tape:
        velocity = model([signal * clean + noisy * noise, level], training=True)
        loss = tf.reduce_mean(tf.square(velocity - (signal * noise - noisy * clean)))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    for slow, fast in zip(average.weights, model.weights):
        slow.assign(0.999 * slow + 0.001 * fast)
    return loss


def sample(count=4, steps=12):
    x = tf.random.normal([count, SIDE, SIDE, 1])
    for now, then in zip(np.linspace(1, 1 / steps, steps), np.linspace(1 - 1 / steps, 0, steps)):
        velocity = average([x, tf.fill([count, 1], np.float32(now))], training=False)
        clean = math.cos(now * math.pi / 2) * x - math.sin(now * math.pi / 2) * velocity
        noise = math.sin(now * math.pi / 2) * x + math.cos(now * math.pi / 2) * velocity
        x = math.cos(then * math.pi / 2) * clean + math.sin(then * math.pi / 2) * noise
    return x.numpy()


began = time.perf_counter()
for step, clean in enumerate(data.take(60000), 1):
    loss = train(clean)
    if step % 5 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
    if step % 1000 == 0:
        drawn = sample()
        print(f"samples: mean {drawn.mean():+.2f} deviation {drawn.std():.2f} [{time.perf_counter() - began:.0f} s]", flush=True)
