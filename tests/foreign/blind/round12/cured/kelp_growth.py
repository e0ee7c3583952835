# python: tensorflow
"""Predict kelp canopy maps a month ahead from satellite composites (a small convolutional recurrent net)."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIDE = 48
MONTHS = 3
BATCH = 8
STEPS = 40000


class CanopyNet(keras.Model):
    def __init__(self, width=8):
        super().__init__()
        self.width = width
        self.look = layers.Conv2D(width, 3, padding="same", activation="relu")
        self.gate = layers.Conv2D(width, 3, padding="same", activation="sigmoid")
        self.candidate = layers.Conv2D(width, 3, padding="same", activation="tanh")
        self.paint = layers.Conv2D(1, 1)

    def call(self, months):
        state = tf.zeros((tf.shape(months)[0], SIDE, SIDE, self.width))
        for m in range(MONTHS):
            seen = tf.concat([self.look(months[:, m, ..., None]), state], -1)
            gate = self.gate(seen)
            state = gate * state + (1 - gate) * self.candidate(seen)
        return months[:, -1] + self.paint(state)[..., 0]


def coast(rng):
    """Canopy density over the months: patches that drift, grow and are grazed."""
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    frames = np.zeros((MONTHS + 1, SIDE, SIDE), "float32")
    for _ in range(5):
        cx, cy, r = rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9), rng.uniform(0.05, 0.15)
        dx, dy, g = rng.normal(0, 0.02), rng.normal(0, 0.02), rng.uniform(0.8, 1.25)
        for m in range(MONTHS + 1):
            frames[m] += g ** m * np.exp(-((xx - cx - m * dx) ** 2 + (yy - cy - m * dy) ** 2) / r ** 2)
    return frames


def main():
    keras.utils.set_random_seed(21)
    rng = np.random.default_rng(21)
    coasts = np.stack([coast(rng) for _ in range(200)])
    data = tf.data.Dataset.from_tensor_slices(coasts).shuffle(200).repeat().batch(BATCH).prefetch(2)
    model = CanopyNet()
    optimizer = keras.optimizers.Adam(1e-3, clipnorm=1.0)

    @tf.function
    def train_step(frames):
        with tf.GradientTape() as tape:
            guess = model(frames[:, :MONTHS], training=True)
            residual = guess - frames[:, MONTHS]
            loss = tf.reduce_mean(tf.square(residual))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss, tf.stack([guess, residual, tf.abs(residual)], -1)

    record = {"step": [], "loss": [], "residual": []}
    start = time.time()
    for step, frames in enumerate(data.take(STEPS), 1):
        loss, residual = train_step(frames)
        record["step"].append(step)
        record["loss"].append(float(loss))
        record["residual"].append(residual)
        del record["residual"][:-8]
        if step % 10 == 0:
            print(f"step {step}/{STEPS} - loss: {np.mean(record['loss'][-10:]):.5f} - {time.time() - start:.0f}s", flush=True)
    field = np.mean([np.mean(r, 0) for r in record["residual"][-8:]], 0)
    np.savez("/tmp/kelp_growth.npz", loss=record["loss"], field=field)


if __name__ == "__main__":
    main()
