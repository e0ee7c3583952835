# python: tensorflow
# expected: array-as-graph-constant
# verdict: slow
# seconds: 30
# where: RECORDS / pipeline
# Why: map() turns a NumPy array into a constant of the pipeline's graph; it is copied and optimised again in each epoch.
"""Coral cover from reef photographs and the temperature record of each site."""
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

RNG = np.random.default_rng(5)
SITES, DAYS = 1500, 16384
RECORDS = RNG.normal(size=(SITES, DAYS)).astype("float32").cumsum(axis=1)
COVER = (RECORDS[:, -30:].mean(axis=1) / 20).astype("float32")


def pipeline(order):
    def look_up(index):
        record = tf.gather(RECORDS, index)
        return record[-256:], tf.gather(COVER, index)

    return tf.data.Dataset.from_tensor_slices(order).map(look_up).batch(32).prefetch(2)


def main():
    model = keras.Sequential([keras.Input((256,)), keras.layers.Dense(256, activation="relu"), keras.layers.Dense(128, activation="relu"),
                              keras.layers.Dense(1)])
    optimizer = keras.optimizers.Adam(1e-3)

    @tf.function(reduce_retracing=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True)[:, 0] - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    done = 0
    for epoch in range(10000):
        began, losses = time.time(), []
        for x, y in pipeline(RNG.permutation(SITES)):
            losses.append(float(step(x, y)))
            done += 1
        print(f"epoch {epoch} step {done} loss {np.mean(losses):.4f} {time.time() - began:.2f}s", flush=True)


main()
