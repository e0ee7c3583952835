# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the batches come from a Python generator, one at a time, but NumPy makes a batch in a fraction of the step and a prefetch
# hides it; the model is the work.
"""Reconstructs noisy recordings of ball bearings; an endless generator feeds a convolutional denoiser."""
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

LENGTH, BATCH = 512, 64


def recordings(seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(LENGTH, dtype="float32") / LENGTH
    while True:
        turns = rng.uniform(4, 30, (BATCH, 1)).astype("float32")
        phase = rng.uniform(0, 6.28, (BATCH, 1)).astype("float32")
        clean = np.sin(6.28 * turns * t + phase) * np.exp(-3 * ((turns * t) % 1.0))
        noisy = clean + rng.standard_normal((BATCH, LENGTH), dtype="float32") * 0.4
        yield noisy[..., None], clean[..., None].astype("float32")


def denoiser():
    inputs = keras.Input((LENGTH, 1))
    x = inputs
    for width in (32, 64, 64, 64, 64, 32):
        x = keras.layers.Conv1D(width, 9, padding="same", activation="relu")(x)
    outputs = keras.layers.Conv1D(1, 9, padding="same")(x)
    return keras.Model(inputs, outputs)


class Denoising:
    def __init__(self, model, rate):
        self.model = model
        self.optimizer = keras.optimizers.Adam(rate)
        self.optimizer.build(model.trainable_variables)

    @tf.function
    def step(self, noisy, clean):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(self.model(noisy, training=True) - clean))
        weights = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss


def main():
    spec = tf.TensorSpec((BATCH, LENGTH, 1), tf.float32)
    stream = tf.data.Dataset.from_generator(recordings, output_signature=(spec, spec)).prefetch(2)
    training = Denoising(denoiser(), rate=1e-3)
    began = time.time()
    for number, (noisy, clean) in enumerate(stream, 1):
        loss = training.step(noisy, clean)
        if number % 10 == 0:
            print(f"[{time.time() - began:6.1f} s] batch {number}: error {float(loss):.4f}")
        if number == 20000:
            break


if __name__ == "__main__":
    main()
