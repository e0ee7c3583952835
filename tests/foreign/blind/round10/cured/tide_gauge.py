# python: tensorflow
"""Forecast tomorrow's high water from the last four days of an hourly gauge."""
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras

HISTORY, AHEAD = 96, 24


def gauge(hours, rng):
    t = np.arange(hours)
    level = (1.2 * np.cos(2 * np.pi * t / 12.42) + 0.5 * np.cos(2 * np.pi * t / 12.0 + 1.0)
             + 0.3 * np.cos(2 * np.pi * t / 25.82 + 0.4))
    surge = np.zeros(hours)
    for i in range(1, hours):
        surge[i] = 0.97 * surge[i - 1] + rng.normal(0, 0.03)
    return (level + surge).astype(np.float32)


def windows(series):
    view = np.lib.stride_tricks.sliding_window_view(series, HISTORY + AHEAD)
    return view[:, :HISTORY].copy(), view[:, HISTORY:].max(axis=1, keepdims=True)


rng = np.random.default_rng(12)
x_all, y_all = windows(gauge(20000, rng))
cut = len(x_all) - 2000
train = (tf.data.Dataset.from_tensor_slices((x_all[:cut], y_all[:cut]))
         .shuffle(cut, seed=1).batch(512, drop_remainder=True).prefetch(2))

model = keras.Sequential([
    keras.Input((HISTORY,)),
    keras.layers.Dense(768, activation="gelu"),
    keras.layers.Dense(768, activation="gelu"),
    keras.layers.Dense(256, activation="gelu"),
    keras.layers.Dense(1),
])
# lower layers move more slowly than the head
rates = np.repeat(np.geomspace(0.01, 0.04, len(model.layers)), 2)


@tf.function
def loss_and_gradients(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    norm = tf.linalg.global_norm(grads)
    grads, _ = tf.clip_by_global_norm(grads, 1.0, use_norm=norm)
    return loss, norm, grads


def update(grads):
    for weight, grad, rate in zip(model.trainable_variables, grads, rates):
        weight.assign_sub(rate * grad)


step, began = 0, time.time()
for epoch in range(1, 301):
    for x, y in train:
        loss, norm, grads = loss_and_gradients(x, y)
        update(grads)
        step += 1
        if step % 20 == 0:
            print(f"epoch {epoch:3d} step {step:5d} loss {float(loss):.4f} grad norm {float(norm):.3f} "
                  f"({step / (time.time() - began):.1f} steps/s)", flush=True)
    error = model(x_all[cut:][:512]) - y_all[cut:][:512]
    print(f"epoch {epoch:3d} holdout rmse {float(tf.sqrt(tf.reduce_mean(error ** 2))):.3f} m", flush=True)
