# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 35
# Why: XLA compiles the first step for some seconds, and the loss is that of a denoiser with random noise levels: noisy, but falling; afterwards it runs well.
"""A denoiser of comet tail pictures: own train_step, compiled with XLA."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE = 24


def comets(n, seed=40):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32") / SIDE
    cx, cy = rng.uniform(0.2, 0.8, (2, n, 1, 1))
    angle = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    along = (xx - cx) * np.cos(angle) + (yy - cy) * np.sin(angle)
    across = -(xx - cx) * np.sin(angle) + (yy - cy) * np.cos(angle)
    tail = np.where(along > 0, np.exp(-4 * along), 0) * np.exp(-(across / 0.06) ** 2)
    head = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 0.004)
    return (tail + head).reshape(n, SIDE * SIDE).astype("float32")


class Denoiser(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [layers.Dense(768, activation="gelu") for _ in range(3)]
        self.norms = [layers.LayerNormalization() for _ in range(3)]
        self.out = layers.Dense(SIDE * SIDE)
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, inputs):
        noisy, level = inputs
        z = tf.concat([noisy, level], axis=1)
        for dense, norm in zip(self.hidden, self.norms):
            z = norm(dense(z))
        return self.out(z)

    def train_step(self, clean):
        level = tf.random.uniform((256, 1), 0.05, 1.5)
        noise = tf.random.normal((256, SIDE * SIDE))
        with tf.GradientTape() as tape:
            guess = self((clean + level * noise, level), training=True)
            loss = tf.reduce_mean(tf.square(guess - clean))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


class BatchLine(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.done = 0

    def on_train_batch_end(self, batch, logs=None):
        self.done += 1
        if self.done % 10 == 0:
            print(f"batch {self.done} loss {logs['loss']:.5f}", flush=True)

    def on_epoch_end(self, epoch, logs=None):
        print(f"== pass {epoch + 1} over the plates, loss {logs['loss']:.5f}", flush=True)


def main():
    plates = comets(8192)
    ds = tf.data.Dataset.from_tensor_slices(plates).shuffle(8192).batch(256, drop_remainder=True).prefetch(2)
    model = Denoiser()
    model.compile(optimizer=keras.optimizers.Adam(3e-4), jit_compile=True)
    model.fit(ds, epochs=400, verbose=0, callbacks=[BatchLine()])


if __name__ == "__main__":
    main()
