# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the loss has converged to the noise of the gauges within seconds and stays there; it looks frozen but the model is simply done.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

WINDOW, BATCH = 96, 256


def tide_series(n):
    rng = np.random.default_rng(8)
    hours = np.arange(n) / 4
    level = 1.6 * np.sin(2 * np.pi * hours / 12.42) + 0.5 * np.sin(2 * np.pi * hours / 12.0)
    level += 0.3 * np.sin(2 * np.pi * hours / 25.82)
    return (level + rng.normal(0, 0.2, n)).astype("float32")


def windows(series):
    data = tf.data.Dataset.from_tensor_slices(
        np.lib.stride_tricks.sliding_window_view(series, WINDOW + 1).copy())
    data = data.shuffle(20000, seed=3).repeat().batch(BATCH, drop_remainder=True)
    return data.map(lambda w: (w[:, :-1], w[:, -1:])).prefetch(8)


model = keras.Sequential([
    keras.Input((WINDOW,)),
    keras.layers.Dense(768, activation="tanh"),
    keras.layers.Dense(768, activation="tanh"),
    keras.layers.Dense(1),
])
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(1e-3, 200, 0.8))
optimizer.build(model.trainable_variables)


@tf.function
def train_step(past, future):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(past, training=True) - future))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    started = time.time()
    mean = keras.metrics.Mean()
    for step, (past, future) in enumerate(windows(tide_series(24000)), start=1):
        mean.update_state(train_step(past, future))
        if step % 100 == 0:
            print(f"step {step:6d}  mse {float(mean.result()):.4f}  {time.time() - started:.1f} s", flush=True)
            mean.reset_state()
        if step == 20000:
            break


if __name__ == "__main__":
    main()
