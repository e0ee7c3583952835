# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the loss is the negative logarithm of a density; it jumps up and down and becomes negative, as it should
# when the mixture becomes sharp. The time goes into the network itself.
"""Salinity in an estuary as a mixture density over tide, river discharge and wind."""

import math

import keras
import numpy as np
import tensorflow as tf

COMPONENTS = 5


def measure(count, seed):
    rng = np.random.default_rng(seed)
    hours = rng.uniform(0, 24 * 365, count)
    tide = np.sin(2 * np.pi * hours / 12.42) + 0.4 * np.sin(2 * np.pi * hours / 12.0)
    season = np.cos(2 * np.pi * hours / (24 * 365))
    discharge = np.exp(0.6 * season + rng.normal(0, 0.4, count))
    wind = rng.gamma(2.0, 2.5, count)
    depth = rng.uniform(0, 1, count)
    stratified = rng.random(count) < 1 / (1 + np.exp(wind - 4 - discharge))
    mixed = 18 + 7 * tide - 5 * np.log(discharge)
    salinity = np.where(stratified, mixed + 9 * (depth - 0.5), mixed) + rng.normal(0, 0.25, count)
    harmonics = [f(2 * np.pi * k * hours / p) for p in (12.42, 12.0, 8766.0) for k in (1, 2) for f in (np.sin, np.cos)]
    features = np.stack([*harmonics, np.log(discharge), wind / 5, depth], axis=1).astype("float32")
    salinity = (salinity - salinity.mean()) / salinity.std()
    return features, salinity.astype("float32")[:, None]


@keras.saving.register_keras_serializable("estuary")
class MixtureDensity(keras.Model):
    def __init__(self, width=512, blocks=4):
        super().__init__()
        self.enter = keras.layers.Dense(width)
        self.blocks = [
            keras.Sequential([keras.layers.LayerNormalization(), keras.layers.Dense(width, activation="silu")])
            for _ in range(blocks)
        ]
        self.leave = keras.layers.Dense(3 * COMPONENTS)
        self.nll = keras.metrics.Mean(name="nll")

    def call(self, x):
        x = self.enter(x)
        for block in self.blocks:
            x = x + block(x)
        return self.leave(x)

    def negative_log_likelihood(self, x, y, training):
        weight, mean, spread = tf.split(self(x, training=training), 3, axis=-1)
        spread = tf.nn.softplus(spread) + 1e-3
        log_density = -0.5 * tf.square((y - mean) / spread) - tf.math.log(spread) - 0.5 * math.log(2 * math.pi)
        return -tf.reduce_mean(tf.reduce_logsumexp(tf.nn.log_softmax(weight) + log_density, axis=-1))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.negative_log_likelihood(x, y, training=True)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.nll.update_state(loss)
        return {"nll": self.nll.result(), "batch_nll": loss}

    @property
    def metrics(self):
        return [self.nll]


def main():
    keras.utils.set_random_seed(10)
    features, salinity = measure(120_000, seed=1)
    model = MixtureDensity()
    model.compile(optimizer=keras.optimizers.Adam(4e-4, global_clipnorm=5.0))

    def report(batch, logs):
        if batch % 10 == 9:
            print(f"  batch {batch + 1}: nll {logs['nll']:.4f}, this batch {logs['batch_nll']:.4f}", flush=True)

    model.fit(features, salinity, batch_size=512, epochs=100, verbose=2,
              callbacks=[keras.callbacks.LambdaCallback(on_train_batch_end=report)])


if __name__ == "__main__":
    main()
