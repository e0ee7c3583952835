# python: tensorflow
# expected: shuffle-fill
# verdict: not-started
# seconds: 30
# where: .shuffle(
# Why: the shuffle buffer holds all windows and stands behind the wavelet transform, so every window of the record
# is transformed before the first batch comes out; shuffling the numbers of the windows would cost nothing.
"""Estimate the water level of a reservoir from the vibrations of its dam."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

RATE = 100
SENSORS = 4
WINDOW = 512
HOP = 8
WINDOWS = 180_000
WAVELETS = 32
FRAMES = 16


def simulate_record(seed):
    """Water makes the dam heavier: its natural frequencies sink when the level rises."""
    rng = np.random.default_rng(seed)
    samples = WINDOWS * HOP + WINDOW
    t = np.arange(samples, dtype=np.float32) / RATE
    knots = rng.uniform(0, 1, samples // 20_000 + 2)
    level = np.interp(np.arange(samples), np.arange(len(knots)) * 20_000, knots).astype(np.float32)
    record = rng.standard_normal((samples, SENSORS), dtype=np.float32) * 0.5
    for mode, (base, drop) in enumerate(((6.0, 1.5), (13.0, 3.0), (24.0, 5.0))):
        phase = 2 * np.pi * np.cumsum(base - drop * level, dtype=np.float64) / RATE
        swing = np.sin(phase).astype(np.float32) * (1 + 0.3 * np.sin(0.05 * t * (mode + 1)))
        record += swing[:, None] * rng.uniform(0.3, 1.0, SENSORS).astype(np.float32)
    return record, level


def wavelet_bank():
    """Morlet wavelets in the frequency domain."""
    frequencies = np.fft.fftfreq(WINDOW, 1 / RATE)
    centres = np.geomspace(2.0, 40.0, WAVELETS)[:, None]
    bank = np.exp(-0.5 * ((frequencies - centres) / (0.08 * centres)) ** 2)
    return tf.constant(bank, tf.complex64)


def make_dataset(record, level, batch_size):
    record, level, bank = tf.constant(record), tf.constant(level), wavelet_bank()

    def scalogram(number):
        start = number * HOP
        window = tf.transpose(tf.cast(record[start:start + WINDOW], tf.complex64))
        spectrum = tf.signal.fft(window)
        waves = tf.abs(tf.signal.ifft(spectrum[:, None, :] * bank[None]))
        frames = tf.reduce_mean(tf.reshape(waves, (SENSORS, WAVELETS, FRAMES, -1)), axis=-1)
        picture = tf.math.log(tf.transpose(frames, (1, 2, 0)) + 1e-3)
        return tf.cast(picture, tf.float16), level[start + WINDOW // 2]

    data = tf.data.Dataset.range(WINDOWS)
    data = data.map(scalogram, num_parallel_calls=tf.data.AUTOTUNE)
    data = data.shuffle(WINDOWS, seed=2)
    return data.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def make_model():
    picture = keras.Input((WAVELETS, FRAMES, SENSORS))
    x = layers.Rescaling(0.5, offset=1.0)(picture)
    for filters in (48, 96, 128):
        x = layers.Conv2D(filters, 3, padding="same", activation="gelu")(x)
        x = layers.Conv2D(filters, 3, padding="same", activation="gelu")(x)
        x = layers.AveragePooling2D(2)(x)
    x = layers.Dense(64, activation="gelu")(layers.Flatten()(x))
    return keras.Model(picture, layers.Dense(1)(x))


if __name__ == "__main__":
    keras.utils.set_random_seed(19)
    record, level = simulate_record(seed=23)
    print(f"{len(record) / RATE / 3600:.1f} hours of {SENSORS} sensors, {WINDOWS} windows", flush=True)
    model = make_model()
    model.compile(optimizer=keras.optimizers.Adam(3e-4), loss="mse", metrics=["mae"])
    model.fit(make_dataset(record, level, batch_size=64), epochs=10)
