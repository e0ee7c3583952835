# python: tensorflow
# expected: weights-not-updated [also accepted: loss-frozen]
# verdict: slow
# seconds: 25
# where: total.assign(tf.zeros_like(total))
# Why: the accumulated gradients are set to zero before the optimizer gets them: it applies nothing but zeros, and no weight moves.
"""Forecast the currents in a fjord from moored profilers; small batches, gradients accumulated over four of them."""
import math

import keras
import numpy as np
import tensorflow as tf
from keras import layers

DEPTHS = 16
HOURS = 72
AHEAD = 6
BATCH = 32
ACCUMULATE = 4


def moorings(hours=20000, seed=8):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)[:, None]
    depth = np.linspace(0, 1, DEPTHS)[None]
    semidiurnal = np.cos(2 * math.pi * t / 12.42 + 2.5 * depth) * (1 - 0.6 * depth)
    spring_neap = 1 + 0.4 * np.cos(2 * math.pi * t / 354.4)
    wind = np.convolve(rng.normal(0, 1, hours), np.exp(-np.arange(60) / 20), mode="same")[:, None]
    flow = semidiurnal * spring_neap + 0.15 * wind * np.exp(-4 * depth) + rng.normal(0, 0.1, (hours, DEPTHS))
    return (flow / flow.std()).astype("float32")


def windows(flow):
    ends = tf.data.Dataset.range(len(flow) - HOURS - AHEAD).shuffle(8192, seed=1).repeat()
    table = tf.constant(flow)

    def cut(start):
        return table[start:start + HOURS], table[start + HOURS + AHEAD - 1]

    def shaped(x, y):
        return tf.ensure_shape(x, (BATCH, HOURS, DEPTHS)), tf.ensure_shape(y, (BATCH, DEPTHS))

    return (ends.map(cut, num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH, drop_remainder=True)
            .map(shaped).prefetch(tf.data.AUTOTUNE))


def forecaster():
    inputs = keras.Input((HOURS, DEPTHS))
    x = inputs
    for dilation in (1, 2, 4, 8, 16):
        y = layers.Conv1D(96, 3, padding="causal", dilation_rate=dilation, activation="gelu")(x)
        x = y if x is inputs else layers.Add()([x, y])
    x = layers.Dense(128, activation="gelu")(layers.Flatten()(x[:, -12:]))
    return keras.Model(inputs, layers.Dense(DEPTHS)(x))


keras.utils.set_random_seed(0)
model = forecaster()
optimizer = keras.optimizers.AdamW(1e-3, weight_decay=0.0)
optimizer.build(model.trainable_variables)
totals = [tf.Variable(tf.zeros_like(weight), trainable=False) for weight in model.trainable_variables]


@tf.function
def accumulate(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    for total, gradient in zip(totals, tape.gradient(loss, model.trainable_variables)):
        total.assign_add(gradient / ACCUMULATE)
    return loss


@tf.function
def update():
    for total in totals:
        total.assign(tf.zeros_like(total))
    optimizer.apply_gradients(zip(totals, model.trainable_variables))


print(f"{model.count_params()} weights, effective batch {BATCH * ACCUMULATE}")
recent = []
for number, (x, y) in enumerate(windows(moorings()), 1):
    recent.append(float(accumulate(x, y)))
    if number % ACCUMULATE == 0:
        update()
    if number % 20 == 0:
        print(f"batch {number} mse {np.mean(recent):.4f} lr {float(optimizer.learning_rate):.1e}", flush=True)
        recent.clear()
    if number == 200000:
        break
