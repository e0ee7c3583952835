# python: tensorflow
"""Siamese network for handwritten signatures: same writer or a forgery?"""
import logging
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("signatures")

WRITERS, EACH, H, W = 10, 800, 32, 64
MARGIN = 1.0


def draw_signatures(rng):
    t = np.linspace(0, 1, 160)
    shelf = np.zeros((WRITERS, EACH, H, W, 1), np.float32)
    for w in range(WRITERS):
        amp, freq, phase = rng.uniform(3, 7, 3), rng.uniform(1, 7, 3), rng.uniform(0, 6, 3)
        for e in range(EACH):
            jitter = rng.normal(0, 0.25, 3)
            y = H / 2 + sum(a * np.sin(6.28 * f * t + p + j) / 1.6 for a, f, p, j in zip(amp, freq, phase, jitter))
            x = 4 + t * (W - 8) + rng.normal(0, 0.3, t.size)
            shelf[w, e, np.clip(y, 0, H - 1).astype(int), np.clip(x, 0, W - 1).astype(int), 0] = 1.0
    return shelf


class PairSource:
    def __init__(self, shelf, batch, seed=0):
        self.shelf, self.batch = shelf, batch
        self.rng = np.random.default_rng(seed)

    def __call__(self):
        half = self.batch // 2
        while True:
            left_w = self.rng.integers(WRITERS, size=self.batch)
            shift = self.rng.integers(1, WRITERS, size=self.batch)
            right_w = left_w.copy()
            right_w[half:] = (left_w[half:] + shift[half:]) % WRITERS
            left_e, right_e = self.rng.integers(EACH, size=(2, self.batch))
            same = (left_w == right_w).astype(np.float32)
            yield self.shelf[left_w, left_e], self.shelf[right_w, right_e], same


def embedding_net():
    return keras.Sequential([
        keras.Input((H, W, 1)),
        layers.Conv2D(16, 5, strides=2, padding="same", activation="relu"),
        layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64),
    ], name="embedding")


def distance(a, b):
    return tf.sqrt(tf.maximum(tf.reduce_sum(tf.square(a - b), axis=-1), 1e-12))


def contrastive(same, d):
    return tf.reduce_mean(same * d + (1.0 - same) * tf.maximum(MARGIN - d, 0.0))


def main(batch=64, steps=12000):
    shelf = draw_signatures(np.random.default_rng(5))
    net = embedding_net()
    opt = keras.optimizers.Adam(5e-4)

    @tf.function
    def step(left, right, same):
        with tf.GradientTape() as tape:
            d = distance(net(left, training=True), net(right, training=True))
            loss = contrastive(same, d)
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        right_call = tf.cast((d < MARGIN / 2) == (same > 0.5), tf.float32)
        return loss, tf.reduce_mean(right_call)

    spec = tf.TensorSpec((batch, H, W, 1), tf.float32)
    pairs = tf.data.Dataset.from_generator(
        PairSource(shelf, batch), output_signature=(spec, spec, tf.TensorSpec((batch,), tf.float32))).prefetch(4)
    for number, (left, right, same) in enumerate(pairs.take(steps), start=1):
        loss, accuracy = step(left, right, same)
        if number % 10 == 0:
            log.info("step %d loss %.5f accuracy %.3f", number, float(loss), float(accuracy))


if __name__ == "__main__":
    main()
