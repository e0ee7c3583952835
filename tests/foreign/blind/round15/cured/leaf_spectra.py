"""Compress leaf reflectance spectra to a few integers and back: an encoder, a quantiser and a decoder."""
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

BANDS = 96
CODES = 10
BATCH = 256
STEPS = 60_000

keras.utils.set_random_seed(5)


def make_spectra(count, rng):
    """Pigments, water and structure each bend the curve in their own way."""
    waves = np.linspace(0.0, 1.0, BANDS)[None, :]
    amount = rng.uniform(-1.0, 1.0, (count, 6))
    curve = np.zeros((count, BANDS))
    for factor in range(6):
        centre = 0.1 + 0.16 * factor + 0.05 * amount[:, [(factor + 1) % 6]]
        curve += 2.0 * amount[:, [factor]] * np.exp(-((waves - centre) / 0.08) ** 2)
    curve += 0.05 * rng.standard_normal(curve.shape)
    return ((curve - curve.mean(0)) / curve.std(0)).astype("float32")


def build_encoder():
    return keras.Sequential([
        keras.layers.Input((BANDS,)),
        keras.layers.Dense(256, activation="gelu"),
        keras.layers.Dense(256, activation="gelu"),
        keras.layers.Dense(CODES),
    ], name="encoder")


def build_decoder():
    return keras.Sequential([
        keras.layers.Input((CODES,)),
        keras.layers.Dense(256, activation="gelu"),
        keras.layers.Dense(256, activation="gelu"),
        keras.layers.Dense(BANDS),
    ], name="decoder")


encoder, decoder = build_encoder(), build_decoder()
optimizer = keras.optimizers.Adam(1e-3)
WEIGHTS = encoder.trainable_variables + decoder.trainable_variables


def quantise(latent):
    return latent + tf.stop_gradient(tf.round(latent) - latent)


@tf.function
def train_step(spectra):
    with tf.GradientTape() as tape:
        latent = encoder(spectra, training=True)
        codes = quantise(latent)
        rebuilt = decoder(codes, training=True)
        loss = tf.reduce_mean(tf.square(rebuilt - spectra))
    gradients = tape.gradient(loss, WEIGHTS)
    optimizer.apply_gradients(zip(gradients, WEIGHTS))
    return loss, tf.reduce_mean(tf.abs(codes))


def main():
    rng = np.random.default_rng(5)
    spectra = make_spectra(40_000, rng)
    data = tf.data.Dataset.from_tensor_slices(spectra).shuffle(20_000).repeat().batch(BATCH, drop_remainder=True).prefetch(4)
    began, total = time.time(), 0.0
    for step, batch in enumerate(data.take(STEPS), 1):
        loss, size = train_step(batch)
        total += float(loss)
        if step % 50 == 0:
            rate = step * BATCH / (time.time() - began)
            print(f"step {step:6d}  mse {total / 50:.4f}  mean code {float(size):.2f}  {rate:.0f} spectra/s", flush=True)
            total = 0.0
    encoder.save("encoder.keras")
    decoder.save("decoder.keras")


if __name__ == "__main__":
    main()
