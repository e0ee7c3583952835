# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: the first step takes seconds because the integrator is unrolled into one large graph, and the last layer
# begins with zeros, as is usual for such a correction; every later step is nothing but products of matrices, and
# the loss falls.
"""Learn how heated metal plates cool down: a neural differential equation, integrated with Runge-Kutta."""

import time

import numpy as np
import tensorflow as tf

SENSORS = 64
PLATES = 256
STEPS = 7
DT = 0.25


class Plant:
    """The plates in the laboratory: conduction between sensors, radiation, a fan that switches on when it is hot."""

    def __init__(self, rng):
        place = rng.uniform(0, 1, (SENSORS, 2))
        distance = np.linalg.norm(place[:, None] - place[None], axis=-1)
        self.coupling = np.exp(-((distance / 0.2) ** 2)) * 0.25
        np.fill_diagonal(self.coupling, 0)
        self.rng = rng

    def rate(self, heat):
        flow = heat @ self.coupling - heat * self.coupling.sum(0)
        fan = 1 / (1 + np.exp(-4 * (heat.mean(1, keepdims=True) - 0.2)))
        return flow - 0.15 * heat * np.abs(heat) - 0.8 * fan * heat

    def record(self, plates, fine=10):
        heat = self.rng.normal(0, 1, (plates, 6)) @ self.rng.normal(0, 0.6, (6, SENSORS))
        start = heat.copy()
        for _ in range(STEPS * fine):
            heat = heat + DT / fine * self.rate(heat)
        return start.astype(np.float32), heat.astype(np.float32)


class CoolingLaw(tf.keras.Model):
    def __init__(self, width=512):
        super().__init__()
        self.inner = tf.keras.layers.Dense(width, activation="tanh")
        self.outer = tf.keras.layers.Dense(width, activation="tanh")
        self.change = tf.keras.layers.Dense(SENSORS, kernel_initializer="zeros")

    def call(self, heat):
        return self.change(self.outer(self.inner(heat)))

    def integrate(self, heat):
        for _ in range(STEPS):
            k1 = self(heat)
            k2 = self(heat + 0.5 * DT * k1)
            k3 = self(heat + 0.5 * DT * k2)
            k4 = self(heat + DT * k3)
            heat = heat + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return heat


if __name__ == "__main__":
    tf.random.set_seed(40)
    plant = Plant(np.random.default_rng(40))
    print("recording plates ...", flush=True)
    start, final = plant.record(PLATES * 40)
    law = CoolingLaw()
    law(start[:2])
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(law.trainable_variables)

    @tf.function
    def fit(before, after):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(law.integrate(before) - after))
        gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, law.trainable_variables), 1.0)
        optimizer.apply_gradients(zip(gradients, law.trainable_variables))
        return loss, norm

    data = tf.data.Dataset.from_tensor_slices((start, final)).shuffle(len(start)).batch(PLATES).repeat().prefetch(2)
    began, recent = time.time(), []
    for step, (before, after) in enumerate(data, 1):
        loss, norm = fit(before, after)
        recent.append(float(loss))
        if step == 1:
            print(f"first step after {time.time() - began:.1f} s", flush=True)
        if step % 10 == 0:
            print(f"step {step} loss {np.mean(recent):.4f} gradient {norm:.2f}", flush=True)
            recent = []
