# python: tensorflow
"""Estimate the partials of carillon bells from short spectra; a scorer process judges the tuning as training goes on."""
import subprocess
import sys
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

BINS = 400
PARTIALS = 5
BATCH = 64
STEPS = 40000

SCORER = r"""
import json, math, sys
names = ["hum", "prime", "tierce", "quint", "nominal"]
for line in sys.stdin:
    row = json.loads(line)
    cents = [1200 * math.log2(max(p, 1e-3) / t) for p, t in zip(row["guess"], row["truth"])]
    report = {"step": row["step"], "cents": dict(zip(names, [round(c, 2) for c in cents])),
              "worst": names[max(range(5), key=lambda i: abs(cents[i]))]}
    print(json.dumps(report), flush=True)
"""


def make_bells(n, rng):
    ratios = np.array([0.5, 1.0, 1.2, 1.5, 2.0]) * rng.uniform(0.97, 1.03, (n, PARTIALS))
    prime = rng.uniform(0.6, 1.5, (n, 1))
    freq = ratios * prime
    grid = np.linspace(0.2, 3.4, BINS)
    amp = rng.uniform(0.3, 1.0, (n, PARTIALS, 1))
    spectrum = (amp * np.exp(-((grid - freq[..., None]) / 0.012) ** 2)).sum(1)
    spectrum += np.abs(rng.normal(0, 0.03, spectrum.shape))
    return spectrum.astype("float32"), freq.astype("float32")


def build():
    spectrum = keras.Input((BINS, 1))
    x = layers.Conv1D(24, 9, strides=2, activation="relu")(spectrum)
    x = layers.Conv1D(32, 9, strides=2, activation="relu")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(128, activation="relu")(x)
    return keras.Model(spectrum, layers.Dense(PARTIALS)(x))


def main():
    rng = np.random.default_rng(8)
    spectra, partials = make_bells(8000, rng)
    model = build()
    optimizer = keras.optimizers.Adam(1e-3)
    scorer = subprocess.Popen([sys.executable, "-c", SCORER], text=True,
                              stdin=subprocess.PIPE, stdout=open("/tmp/carillon_reports.jsonl", "w+"))

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            guess = model(x[..., None], training=True)
            loss = tf.reduce_mean(tf.square(guess - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss, guess

    start = time.time()
    for step in range(1, STEPS + 1):
        pick = rng.integers(0, len(spectra), BATCH)
        loss, guess = train_step(tf.constant(spectra[pick]), tf.constant(partials[pick]))
        for p, t in zip(guess.numpy()[:3], partials[pick][:3]):
            scorer.stdin.write('{"step": %d, "guess": %s, "truth": %s}\n' % (
                step, [round(float(v), 4) for v in p], [round(float(v), 4) for v in t]))
        scorer.stdin.flush()
        if step % 10 == 0:
            print(f"step {step:5d}  mse {float(loss):.5f}  {time.time() - start:5.1f} s", flush=True)
    scorer.stdin.close()
    scorer.wait()
    print("last report:", open("/tmp/carillon_reports.jsonl").readlines()[-1].strip())


if __name__ == "__main__":
    main()
