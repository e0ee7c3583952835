# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the loss of a denoising model jumps from batch to batch because each batch draws its own noise levels, and a Python loop reads the
#      loss every step; but the compiled step is nearly all the time and the mean falls.
"""Denoising diffusion on small height maps of wind-blown dunes."""
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE, LEVELS, BATCH = 32, 200, 64


def height_maps(count, seed=8):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    angle, freq, phase = rng.uniform(0, np.pi, count), rng.uniform(2, 5, count), rng.uniform(0, 6.28, count)
    ridge = (np.cos(angle)[:, None, None] * xx + np.sin(angle)[:, None, None] * yy) * freq[:, None, None]
    wave = np.sin(6.28 * ridge + phase[:, None, None])
    return np.sign(wave)[..., None].astype(np.float32) * np.abs(wave[..., None]).astype(np.float32) ** 0.5


betas = np.linspace(1e-4, 0.05, LEVELS)
alpha_bar = tf.constant(np.cumprod(1 - betas), tf.float32)


def denoiser():
    noisy = keras.Input((SIDE, SIDE, 1))
    level = keras.Input((), dtype="int32")
    t = layers.Dense(48, activation="swish")(layers.Embedding(LEVELS, 32)(level))
    a = layers.Conv2D(32, 3, padding="same", activation="swish")(noisy)
    b = layers.Conv2D(48, 3, strides=2, padding="same")(a)
    b = layers.Activation("swish")(layers.Add()([b, layers.Reshape((1, 1, 48))(t)]))
    c = layers.Conv2D(48, 3, padding="same", activation="swish")(b)
    c = layers.Conv2D(48, 3, padding="same", activation="swish")(layers.Add()([b, c]))
    d = layers.Concatenate()([layers.UpSampling2D()(c), a])
    d = layers.Conv2D(32, 3, padding="same", activation="swish")(d)
    return keras.Model([noisy, level], layers.Conv2D(1, 3, padding="same")(d))


model = denoiser()
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(clean):
    # a curriculum of one noise level a batch, as in the first version of the paper code
    level = tf.random.uniform((), 0, LEVELS, tf.int32)
    levels = tf.fill((BATCH,), level)
    keep = tf.gather(alpha_bar, levels)[:, None, None, None]
    noise = tf.random.normal(tf.shape(clean))
    noisy = tf.sqrt(keep) * clean + tf.sqrt(1 - keep) * noise
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model([noisy, levels], training=True) - noise))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    maps = height_maps(4096)
    batches = tf.data.Dataset.from_tensor_slices(maps).shuffle(4096).repeat().batch(BATCH, drop_remainder=True).prefetch(2)
    recent, began = [], time.time()
    for step, clean in enumerate(batches.take(30000), start=1):
        recent.append(float(train_step(clean)))
        if step % 5 == 0:
            print(f"step {step:5d}  loss {recent[-1]:.4f}  mean of last 50 {np.mean(recent[-50:]):.4f}  "
                  f"{step / (time.time() - began):.1f} it/s", flush=True)
            del recent[:-50]


if __name__ == "__main__":
    main()
