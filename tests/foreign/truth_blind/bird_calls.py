# python: tensorflow
# truth: shape=compiles, step=computes, batch=makes data, tally=runs own code
# Why: a custom loop whose tf.function takes a Python number that changes every few steps, so that it is traced anew.
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

from stopwatch import give, part, started

SPECIES, LENGTH = 9, 1_024


def build():
    sound = keras.Input((LENGTH, 1))
    x = keras.layers.Conv1D(24, 9, strides=2, activation="relu")(sound)
    for width in (32, 48, 64):
        y = keras.layers.Conv1D(width, 5, padding="same", activation="relu")(x)
        y = keras.layers.LayerNormalization()(y)
        x = keras.layers.MaxPooling1D(2)(y)
    x = keras.layers.GlobalAveragePooling1D()(x)
    return keras.Model(sound, keras.layers.Dense(SPECIES)(x))


model = build()
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def learn(sounds, species, shift):
    with tf.GradientTape() as tape:
        guesses = model(tf.roll(sounds, shift, axis=1), training=True)
        loss = loss_of(species, guesses)
    slopes = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(slopes, model.trainable_variables))
    return loss, tf.argmax(guesses, axis=1)


def sing(rng, count):
    species = rng.integers(0, SPECIES, count)
    sounds = np.empty((count, LENGTH, 1), np.float32)
    time_axis = np.arange(LENGTH) / LENGTH
    for i, kind in enumerate(species):
        call = np.zeros(LENGTH)
        for overtone in range(1, 10):
            bend = time_axis + 0.02 * np.sin(2 * np.pi * (kind + 1) * time_axis + rng.random())
            call += np.sin(2 * np.pi * overtone * (20 + 7 * kind) * bend) / overtone
        spectrum = np.fft.rfft(call + rng.normal(0, 0.3, LENGTH))
        spectrum[300:] *= 0.2
        sounds[i, :, 0] = np.fft.irfft(spectrum, LENGTH)
    return sounds, species


def confusions(guessed, meant, history):
    """Who is taken for whom, over the last thousand rounds, by hand."""
    history.append(list(zip(guessed, meant)))
    del history[:-1_000]
    table = {}
    for round_of in history:
        for pair in round_of:
            key = f"{pair[0]}>{pair[1]}"
            table[key] = table.get(key, 0) + 1
    return sorted(table.items(), key=lambda item: -item[1])


def main():
    rng = np.random.default_rng(8)
    history = [[(1, 2)] * 64] * 999
    took, shift, clock = [], 0, 0
    sing(rng, 2)
    started()
    while clock < 20_000:
        with part("batch"):
            sounds, species = sing(rng, 64)
            sounds, species = tf.constant(sounds), tf.constant(species)
        fresh = clock % 24 == 0
        shift += 3 * fresh
        began = time.perf_counter()
        with part("shape" if fresh else "step"):
            loss, guessed = learn(sounds, species, shift)
            loss = float(loss)
        if not fresh:
            took.append(time.perf_counter() - began)
        elif took:
            give(statistics.median(took[-20:]), "shape", "step")
        with part("tally"):
            worst = confusions(guessed.numpy().tolist(), species.numpy().tolist(), history)
        if clock % 20 == 0:
            print(f"{clock} {loss:.4f} {worst[0]}", flush=True)
        clock += 1


if __name__ == "__main__":
    main()
