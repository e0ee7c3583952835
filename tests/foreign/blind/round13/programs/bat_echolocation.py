# python: tensorflow
# expected: host-memory-leak
# verdict: slow
# seconds: 30
# where: .cache()
# Why: cache() stands behind repeat(): the repeated data never end, so the cache is never complete and keeps every
# spectrogram of every pass; the memory grows with every step.
"""Tell bat species apart by the spectrograms of their calls."""

import keras
import numpy as np
import tensorflow as tf

RATE = 16000
SAMPLES = 6144
CALLS = 1600
BATCH = 32
SPECIES = 8


def synthesize_calls(seed):
    rng = np.random.default_rng(seed)
    t = np.arange(SAMPLES, dtype=np.float32) / RATE
    waves = np.empty((CALLS, SAMPLES), np.int16)
    species = rng.integers(0, SPECIES, CALLS)
    for i, kind in enumerate(species):
        start = 6500 - 500 * kind + rng.normal(0, 150)
        sweep = -(900 + 350 * kind) + rng.normal(0, 150)
        chirp = np.sin(2 * np.pi * (start * t + 0.5 * sweep * t * t))
        pulse = np.exp(-(((t * (6 + kind)) % 1.0) - 0.3) ** 2 / 0.02)
        wave = chirp * pulse + rng.normal(0, 0.4, SAMPLES)
        waves[i] = np.clip(wave * 8000, -32768, 32767)
    return waves, species.astype(np.int32)


def spectrogram(wave, label):
    wave = tf.cast(wave, tf.float32) / 32768.0
    power = tf.abs(tf.signal.stft(wave, frame_length=256, frame_step=256, fft_length=256))
    return tf.math.log(power + 1e-3)[..., None], label


def make_dataset(waves, species, training):
    data = tf.data.Dataset.from_tensor_slices((waves, species))
    if training:
        data = data.shuffle(CALLS).repeat()
    data = data.map(spectrogram, num_parallel_calls=tf.data.AUTOTUNE)
    data = data.cache()
    return data.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def make_model(normalizer):
    return keras.Sequential([
        keras.Input((23, 129, 1)),
        normalizer,
        keras.layers.Conv2D(48, 5, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(96, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(128, 3, padding="same", activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(SPECIES, activation="softmax"),
    ])


def main():
    keras.utils.set_random_seed(4)
    waves, species = synthesize_calls(seed=21)
    held_out = CALLS // 10
    train = make_dataset(waves[held_out:], species[held_out:], training=True)
    test = make_dataset(waves[:held_out], species[:held_out], training=False)

    normalizer = keras.layers.Normalization(axis=None)
    normalizer.adapt(test.map(lambda x, _: x))
    model = make_model(normalizer)
    model.compile(optimizer=keras.optimizers.Adam(7e-4), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, steps_per_epoch=(CALLS - held_out) // BATCH, epochs=400, validation_data=test, verbose=2)


main()
