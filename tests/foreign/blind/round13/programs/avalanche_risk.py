# python: tensorflow
# expected: step-time-grows [also accepted: hot-line]
# verdict: slow
# seconds: 35
# where: rank_correlation(np.concatenate
# Why: after every step the rank correlation is computed over all predictions since the start, so every step sorts
# more numbers than the one before and takes longer.
"""Estimate avalanche risk from the layers of a snow profile."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

LAYERS, CHANNELS = 24, 10
BATCH = 512


class SnowProfiles:
    """An endless series of snow profiles with the risk that experts gave them."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.weights = self.rng.normal(0, 1, (CHANNELS,)).astype(np.float32)

    def draw(self, count):
        profile = self.rng.standard_normal((count, LAYERS, CHANNELS), dtype=np.float32)
        profile = profile + 0.7 * np.roll(profile, 1, axis=1)
        weakness = profile @ self.weights
        slab = np.maximum(weakness[:, 1:] - weakness[:, :-1], 0).mean(1)
        risk = 0.8 * slab + 0.3 * weakness[:, -6:].mean(1)
        risk = risk + self.rng.normal(0, 0.1, count)
        return profile, risk.astype(np.float32)


def rank_correlation(first, second):
    a = first.argsort().argsort().astype(np.float64)
    b = second.argsort().argsort().astype(np.float64)
    return float(np.corrcoef(a, b)[0, 1])


def build():
    inputs = keras.Input((LAYERS, CHANNELS))
    x = keras.layers.Conv1D(64, 3, padding="same", activation="relu")(inputs)
    x = keras.layers.Conv1D(64, 3, padding="same", activation="relu")(x)
    x = keras.layers.Flatten()(x)
    x = keras.layers.Dense(64, activation="relu")(x)
    return keras.Model(inputs, keras.layers.Reshape(())(keras.layers.Dense(1)(x)))


def main():
    tf.random.set_seed(9)
    model = build()
    optimizer = keras.optimizers.Adam(1e-3)
    huber = keras.losses.Huber()

    @tf.function
    def train(profile, risk):
        with tf.GradientTape() as tape:
            estimate = model(profile, training=True)
            loss = huber(risk, estimate)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss, estimate

    profiles = SnowProfiles(seed=13)
    estimates, risks, history = [], [], []
    for step in range(1, 200_001):
        profile, risk = profiles.draw(BATCH)
        loss, estimate = train(tf.constant(profile), tf.constant(risk))
        estimates.append(estimate.numpy())
        risks.append(risk)
        rho = rank_correlation(np.concatenate(estimates), np.concatenate(risks))
        history.append((float(loss), rho))
        if step % 50 == 0:
            print(f"step {step:6d}  loss {np.mean([l for l, _ in history[-50:]]):.4f}  spearman {rho:.3f}", flush=True)


if __name__ == "__main__":
    main()
