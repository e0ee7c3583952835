"""Moisture of moss cushions from near-infrared spectra, with a smoothed copy of the network for the reports."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

POINTS = 200


def spectra(n, seed=5):
    rng = np.random.default_rng(seed)
    grid = np.linspace(0, 1, POINTS)[None]
    moisture = rng.uniform(0, 1, (n, 1))
    age = rng.uniform(0, 1, (n, 1))
    x = (np.exp(-((grid - 0.4) / 0.08) ** 2) * moisture
         + np.exp(-((grid - 0.7) / 0.05) ** 2) * age
         + 0.3 * grid * (1 - moisture * age))
    x = x + rng.normal(0, 0.03, x.shape)
    return x[..., None].astype("float32"), (4 * moisture - 2).astype("float32")


def make_network():
    return keras.Sequential([
        keras.Input((POINTS, 1)),
        layers.Conv1D(24, 9, strides=2, activation="swish"),
        layers.Conv1D(32, 9, strides=2, activation="swish"),
        layers.Flatten(),
        layers.Dense(64, activation="swish"),
        layers.Dense(1),
    ])


network = make_network()
smooth = keras.models.clone_model(network)
smooth.set_weights(network.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(network.trainable_variables)


@tf.function
def train_on(x, y):
    with tf.GradientTape() as tape:
        error = network(x, training=True) - y
        loss = tf.reduce_mean(tf.square(error))
    grads = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(grads, network.trainable_variables))
    for s, w in zip(smooth.trainable_variables, network.trainable_variables):
        s.assign(0.999 * s + 0.001 * w)
    return loss


def main():
    x, y = spectra(8000)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8000).batch(64).prefetch(4)
    for epoch in range(300):
        meter = keras.metrics.Mean()
        for i, (bx, by) in enumerate(ds):
            loss = train_on(bx, by)
            meter.update_state(loss)
            if i % 25 == 24:
                print(f"epoch {epoch + 1} step {i + 1}/125 loss: {float(meter.result()):.4f}", flush=True)
        print(f"epoch {epoch + 1} done, mean loss: {float(meter.result()):.4f}", flush=True)


if __name__ == "__main__":
    main()
