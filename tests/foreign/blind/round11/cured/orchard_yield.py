"""Predict the yield of orchard rows from leaf reflectance (regression with a feature head)."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

BANDS = 120
BATCH = 384


class OrchardTrainer:
    def __init__(self, lr=3e-4):
        inp = keras.Input((BANDS,))
        h = layers.Dense(512, activation="relu")(inp)
        h = layers.Dense(1024, activation="relu")(h)
        feats = layers.Dense(512, activation="relu", name="features")(h)
        out = layers.Dense(1)(feats)
        self.model = keras.Model(inp, [out, feats])
        self.optimizer = keras.optimizers.Adam(lr)
        self.losses = []
        self.features = []

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            guess, feats = self.model(x, training=True)
            loss = tf.reduce_mean(tf.square(guess - y))
        variables = self.model.trainable_variables
        grads = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(grads, variables))
        return loss, feats

    def run_epoch(self, ds, epoch):
        for i, (x, y) in enumerate(ds):
            loss, feats = self.step(x, y)
            self.losses.append(float(loss))
            self.features.append(feats)
            del self.features[:-20]
            if i % 25 == 0:
                recent = np.mean(self.losses[-25:])
                print(f"epoch {epoch} batch {i} loss {recent:.4f}", flush=True)


def reflectance(n, seed=8):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n, BANDS)).astype(np.float32)
    w = rng.normal(0, 1, (BANDS, 3)).astype(np.float32) / np.sqrt(BANDS)
    z = x @ w
    y = np.sin(2 * z[:, :1]) + z[:, 1:2] * z[:, 2:3] + rng.normal(0, 0.1, (n, 1))
    return x, y.astype(np.float32)


def main():
    x, y = reflectance(30000)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(30000).batch(BATCH, drop_remainder=True)
    ds = ds.prefetch(tf.data.AUTOTUNE)
    trainer = OrchardTrainer()
    for epoch in range(1, 501):
        trainer.run_epoch(ds, epoch)
    stacked = tf.concat(trainer.features[-20:], axis=0).numpy()
    _, s, _ = np.linalg.svd(stacked - stacked.mean(0), full_matrices=False)
    print("spectrum of the features:", s[:10])


if __name__ == "__main__":
    main()
