# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: the first step takes several seconds while XLA compiles the unrolled transformer, once; after it every step is quick and even.
"""Monthly melt of a glacier from weather: a small transformer, its train step compiled as a whole."""
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

MONTHS = 48
WEATHER = 8
WIDTH = 96
LAYERS = 2
BATCH = 32
STEPS = 30_000


def make_years(count, rng):
    """Melt follows warm months and thin snow; snow remembers the winters before."""
    season = np.sin(2.0 * np.pi * np.arange(MONTHS) / 12.0)
    weather = rng.standard_normal((count, MONTHS, WEATHER)) * 0.6
    weather[:, :, 0] += season * 2.0
    weather[:, :, 1] -= season
    snow, melt = np.zeros(count), np.zeros((count, MONTHS))
    for month in range(MONTHS):
        warm = np.maximum(weather[:, month, 0], 0.0)
        snow = 0.85 * snow + np.maximum(weather[:, month, 1], 0.0) - 0.3 * warm * (snow > 0.3)
        melt[:, month] = warm * (1.4 - np.tanh(snow)) + 0.1 * rng.standard_normal(count)
    return weather.astype("float32"), melt.astype("float32")


class Positions(keras.layers.Layer):
    def build(self, shape):
        self.table = self.add_weight(shape=shape[1:], initializer=keras.initializers.RandomNormal(stddev=0.02))

    def call(self, x):
        return x + self.table


def build():
    inputs = keras.Input((MONTHS, WEATHER))
    x = keras.layers.Dense(WIDTH)(inputs)
    x = Positions()(x)
    for _ in range(LAYERS):
        y = keras.layers.LayerNormalization()(x)
        x = x + keras.layers.MultiHeadAttention(4, WIDTH // 4)(y, y, use_causal_mask=True)
        y = keras.layers.LayerNormalization()(x)
        y = keras.layers.Dense(3 * WIDTH, activation="gelu")(y)
        x = x + keras.layers.Dense(WIDTH)(y)
    x = keras.layers.LayerNormalization()(x)
    return keras.Model(inputs, keras.layers.Dense(1)(x)[..., 0], name="melt")


def main():
    keras.utils.set_random_seed(9)
    weather, melt = make_years(6_000, np.random.default_rng(9))
    rng = np.random.default_rng(10)
    model = build()
    optimizer = keras.optimizers.AdamW(3e-4, weight_decay=1e-2, clipnorm=1.0)
    optimizer.build(model.trainable_variables)
    print(f"melt model with {model.count_params():,} weights", flush=True)

    @tf.function(jit_compile=True)
    def learn(inputs, wanted):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(inputs, training=True) - wanted))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    began, recent = time.time(), []
    for step in range(1, STEPS + 1):
        rows = rng.integers(0, len(weather), BATCH)
        recent.append(float(learn(tf.constant(weather[rows]), tf.constant(melt[rows]))))
        if step == 1 or step % 10 == 0:
            print(f"step {step:5d} | loss {np.mean(recent):.4f} | {time.time() - began:6.1f} s", flush=True)
            recent.clear()
    model.save("melt.keras")


if __name__ == "__main__":
    main()
