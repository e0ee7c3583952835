# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: XLA compiles the step before the first one ends, once (and once more for the evaluation); from then on every step takes the same time.
"""Nowcast the sizes of hailstones on radar: six past echoes to the next two, a U-Net compiled by XLA."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIDE, PAST, AHEAD, BATCH = 48, 6, 2, 16


@tf.function
def storms(batch):
    """Cells of hail that drift, swell and shrink; made on the fly, no two batches the same."""
    t = tf.range(PAST + AHEAD, dtype=tf.float32)[None, None, :, None, None]
    grid = tf.linspace(0.0, 1.0, SIDE)

    def draw(low, high):
        return tf.random.uniform([batch, 4, 1, 1, 1], low, high)

    row = draw(0, 1) + draw(-0.05, 0.05) * t
    column = draw(0, 1) + draw(-0.05, 0.05) * t
    width = draw(0.05, 0.12)
    strength = draw(0.3, 1) * (1 + draw(-0.1, 0.1) * t)
    across = tf.exp(-tf.square((grid[None, None, None, :, None] - row) / width))
    along = tf.exp(-tf.square((grid[None, None, None, None, :] - column) / width))
    echo = tf.transpose(tf.reduce_sum(strength * across * along, 1), (0, 2, 3, 1))
    echo += 0.03 * tf.random.normal(tf.shape(echo))
    return echo[..., :PAST], echo[..., PAST:]


def double(x, filters):
    for _ in range(2):
        x = layers.Conv2D(filters, 3, padding="same", activation="swish")(x)
    return x


def unet():
    inputs = keras.Input((SIDE, SIDE, PAST))
    top = double(inputs, 24)
    middle = double(layers.AveragePooling2D(2)(top), 48)
    bottom = double(layers.AveragePooling2D(2)(middle), 64)
    x = double(layers.Concatenate()([layers.UpSampling2D()(bottom), middle]), 48)
    x = double(layers.Concatenate()([layers.UpSampling2D()(x), top]), 24)
    return keras.Model(inputs, layers.Conv2D(AHEAD, 1)(x))


def main():
    keras.utils.set_random_seed(3)
    model = unet()
    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1.5e-3, 20000))
    optimizer.build(model.trainable_variables)

    @tf.function(jit_compile=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y)) * 100
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    @tf.function(jit_compile=True)
    def error(x, y):
        return tf.reduce_mean(tf.abs(model(x, training=False) - y))

    exams = [storms(BATCH) for _ in range(4)]
    print(f"{model.count_params()} weights; compiling", flush=True)
    began = time.perf_counter()
    losses = []
    for number in range(1, 100001):
        losses.append(float(step(*storms(BATCH))))
        if number == 1:
            print(f"first step after {time.perf_counter() - began:.1f} s", flush=True)
        if number % 5 == 0:
            print(f"step {number} loss {np.mean(losses[-5:]):.4f}", flush=True)
        if number % 250 == 0:
            print(f"  mean error {np.mean([float(error(*exam)) for exam in exams]):.4f} after {number}", flush=True)


main()
