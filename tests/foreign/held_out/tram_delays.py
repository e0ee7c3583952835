# python: tensorflow
# expected: hidden-validation
# verdict: slow|healthy
# seconds: 35
# severity: info
# Why: an epoch is 25 steps of a custom train_step, behind which 30,000 held-back rows are evaluated in batches of 32
# without a bar: most of the time passes there. It moves, so that saying it is enough.
import argparse

import numpy as np
import tensorflow as tf

L = tf.keras.layers


class Quantiles(tf.keras.Model):
    """Predicts the 10th, 50th and 90th percentile of the delay."""

    taus = tf.constant([0.1, 0.5, 0.9])

    def __init__(self, steps, channels):
        super().__init__()
        self.encoder = tf.keras.Sequential([
            L.Input((steps, channels)),
            L.Conv1D(64, 5, padding="causal", activation="relu"),
            L.Conv1D(64, 5, padding="causal", dilation_rate=2, activation="relu"),
            L.Conv1D(64, 5, padding="causal", dilation_rate=4, activation="relu"),
            L.GlobalAveragePooling1D(),
        ])
        self.head = L.Dense(3)
        self.pinball = tf.keras.metrics.Mean(name="pinball")

    def call(self, x, training=False):
        return self.head(self.encoder(x, training=training))

    @property
    def metrics(self):
        return [self.pinball]

    def _pinball(self, y, q):
        e = y[:, None] - q
        return tf.reduce_mean(tf.maximum(self.taus * e, (self.taus - 1.0) * e))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self._pinball(y, self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.pinball.update_state(loss)
        return {"pinball": self.pinball.result()}

    def test_step(self, data):
        x, y = data
        self.pinball.update_state(self._pinball(y, self(x)))
        return {"pinball": self.pinball.result()}


def timetable(rows, steps=96, channels=8, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, steps, channels), dtype=np.float32)
    return x, x[:, -12:, 0].mean(1) + 0.1 * rng.standard_normal(rows, dtype=np.float32)


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--epochs", type=int, default=40)
    cli.add_argument("--batch", type=int, default=32)
    cfg = cli.parse_args()
    recent, archive = timetable(25 * cfg.batch), timetable(30_000, seed=1)
    model = Quantiles(96, 8)
    model.compile(optimizer="rmsprop")
    model.fit(*recent, batch_size=cfg.batch, epochs=cfg.epochs, validation_data=archive, validation_batch_size=32)
